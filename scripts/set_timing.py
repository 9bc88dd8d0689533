"""Cycles of a cluster of the set core for 3-cliques: the pipeline of docs/reference/set-core.md ("Timing").

`Pu.tick` moves every register of a PU by one cycle. Later stages move first, so that each stage reads what the stage
before it had at the end of the last cycle. scripts/set_model.py makes the units.
"""

from collections import deque

PUS, PARTITIONS, TURNS = 8, 8, 4
# Of machine `set`: halves in a unit queue, lists in the list buffer, lines in flight, prefetched lines of lists, waiting lines.
GROUPS, LISTS, ANSWERS, AHEAD, WAITING = 4, 32, 32, 16, 32
# Cycles from the start to the choice of a PU for the first half, from a turn to the line, from the last step to the
# end; cycles of a cluster without units.
FIRST_HALF, ANSWER, LAST_STEP, NO_UNITS = 4, 2, 10, 10
# (Cycle + PHASE) mod TURNS is the turn of partition 0.
PHASE = 0

# Kinds of lines in flight: of a root's list, lengths, of a member's list. The end of a unit whose last line has no member to read
# is a marker, which takes the place of a member's line but is not read.
LOAD, LENGTHS, MEMBER = range(3)
MARKER = None


class Pu:
    """A PU. A line is (number, kind, content).

    Content of a root's line: None, or with the last one the lines of members to read, by line of the list.
    Content of a member's line: first window, cycles of each window up to the last, whether the unit ends with the line.
    """

    def __init__(self, number):
        self.number = number % TURNS
        self.free, self.push, self.halves, self.half = GROUPS, None, deque(), deque()
        self.unit, self.load, self.slot, self.used = None, deque(), None, 0
        self.lists, self.room, self.fetched, self.ahead = deque(), AHEAD, [None, None], deque()
        self.hand, self.members, self.lines, self.lengths = None, deque(), deque(), 0
        self.order, self.popped, self.served = deque(), (False, False), [-TURNS] * PARTITIONS
        self.line, self.stage, self.waiting, self.held, self.window = None, None, deque(), 0, 0
        self.next_steps, self.steps, self.freed, self.last_step = None, None, False, 0

    def busy(self):
        return self.free < GROUPS or self.half or self.unit or self.slot or self.load or self.used

    def tick(self, now):
        freed, self.freed = self.freed, False
        lengths_came = self.lengths == 2
        lists = self._step(now)
        self._answer(now)
        ready = len(self.order) + sum(self.popped) < ANSWERS
        loads = bool(self.load)
        self._visit(now, ready and not loads)
        self._load(now, ready)
        self.used -= freed
        if lists is not None:
            self.lists.extend(lists)
        if lengths_came:
            self.lengths = 0

    def _step(self, now):
        """Stepper. Returns the lines of a root's list if it is now complete."""
        full, ready = self.held == WAITING, self.steps is None or self.steps[0] == 1
        if self.steps is not None:
            self.last_step = now
            cycles, last, ends = self.steps
            self.held -= cycles == 1 and last
            self.freed = cycles == 1 and last and ends
            self.steps = (cycles - 1, last, ends) if cycles > 1 else None
        if ready:
            self.steps, self.next_steps = self.next_steps, None
        if self.waiting and self.next_steps is None:
            _, windows, ends = self.waiting[0]
            last = self.window == len(windows) - 1
            self.next_steps = windows[self.window], last, ends
            self.window += 1
            if last:
                self.waiting.popleft()
                self.window = self.waiting[0][0] if self.waiting else 0
        lists = None
        if self.stage is not None:
            kind, content = self.stage
            if kind == MEMBER and full:
                return None
            if kind == MEMBER:
                self.waiting.append(content)
                self.held += 1
            elif kind == LENGTHS:
                self.lengths = 2
            else:
                lists = content
        self.stage, self.line = self.line, None
        return lists

    def _answer(self, now):
        """Port: lines leave in the order of the requests."""
        pops = self.line is None and bool(self.order) and self.order[0][0] <= now
        if pops:
            self.line = self.order.popleft()[1]
        self.popped = pops, self.popped[0]

    def _request(self, now, line):
        number, *what = line
        at = now + 1
        if number is not MARKER:
            part = number % PARTITIONS
            at = max(at, self.served[part] + TURNS)
            at += (PHASE + self.number + part - at) % TURNS
            self.served[part] = at
            at += ANSWER
        self.order.append((at, what))

    def _visit(self, now, ready):
        """Members of loaded lists, one a cycle, and their lines, one a cycle if the port is `ready` for them."""
        full = len(self.members) == 2
        if self.lines and ready and self.lengths == 0:
            line = self.lines.popleft()
            self._request(now, line)
            if line[1] == LENGTHS:
                self.lengths = 1
        if not self.lines and self.members:
            self.lines = deque(self.members.popleft())
        takes = self.hand and not full
        if takes:
            self.members.append(self.hand.popleft())
        follows = not self.hand and bool(self.ahead)
        if follows:
            self.hand = deque(self.ahead.popleft())
        fetch = self.lists.popleft() if self.lists and self.room else None
        self.room += follows - (fetch is not None)
        if self.fetched[1] is not None:
            self.ahead.append(self.fetched[1])
        self.fetched = [fetch, self.fetched[0]]

    def _load(self, now, ready):
        """Roots' lists: a cycle for a place in the list buffer, then a line a cycle."""
        free = self.slot is None and not self.load or ready and len(self.load) == 1
        slot = self.slot
        if self.load and ready:
            self._request(now, self.load.popleft())
        if slot is not None and self.used < LISTS:
            self.load, self.slot = deque(slot), None
            self.used += 1
        begins = free and self.unit is not None
        if begins:
            self.slot = self.unit
        unit, self.unit = self.unit, None if begins else self.unit
        # Unit queue: a unit leaves it if none was held.
        if unit is None and self.half:
            self.unit = self.half.popleft()
        pops = not self.half and bool(self.halves)
        if pops:
            self.half = deque(self.halves.popleft())
        self.free += pops - (self.push is not None)
        if self.push is not None:
            self.halves.append(self.push)
            self.push = None


class Distributor:
    """Hands halves of beats to PUs, one a cycle."""

    def __init__(self, halves):
        self.halves, self.last = deque(halves), -1
        self.chosen = deque([None] * 4)  # in the last four cycles
        self.rooms = deque([[GROUPS] * PUS] * 2)

    def tick(self, pus):
        self.rooms.append([pu.free for pu in pus])
        rooms = self.rooms.popleft()
        old, choice, half = list(self.chosen)[:2], None, None
        most = max((rooms[p] for p in range(PUS) if p not in old), default=0)
        able = [p for p in range(PUS) if p not in self.chosen and rooms[p] == most > 0]
        if able and self.halves:
            self.last = choice = min(able, key=lambda p: (p - self.last - 1) % PUS)
            half = self.halves.popleft()
        self.chosen.popleft()
        self.chosen.append(choice)
        return None if choice is None else (choice, half)


def cycles_of(halves):
    """Predicted cycles of a cluster, from halves with the lines of each unit's root."""
    if not halves:
        return NO_UNITS
    pus, distributor, now = [Pu(number) for number in range(PUS)], Distributor(halves), FIRST_HALF
    while distributor.halves or any(pu.push or pu.busy() for pu in pus):
        choice = distributor.tick(pus)
        for pu in pus:
            pu.tick(now)
        if choice is not None:
            pus[choice[0]].push = choice[1]
        now += 1
    return max(pu.last_step for pu in pus) + LAST_STEP
