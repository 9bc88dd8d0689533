"""Cycles of a cluster of the set core for 3-cliques: the pipeline of docs/reference/set-core.md ("Timing").

A tick moves every register by one cycle. Later stages move first, so that each reads what the stage before it held at
the end of the last cycle. scripts/set_model.py makes the units.
"""

from collections import deque

# Of machine `set`: PUs, partitions, PUs that share a port; halves in a unit queue, lists in the list buffer, lines in
# flight, prefetched lines of lists, waiting lines.
PUS, PARTITIONS, TURNS = 8, 8, 4
HALVES, LISTS, ANSWERS, AHEAD, WAITING = 4, 32, 32, 16, 32
# Cycles from the start to the choice for the first half, from a turn to the line, from the last step to the end, and
# of a cluster without units.
FIRST_CHOICE, ANSWER, LAST_STEP, NO_UNITS = 4, 2, 10, 10
# Turn of partition 0 when the run starts. The core counts turns from its reset, so it differs between runs.
START_TURN = 0

# Lines in flight are (number, kind, content).
#   LOAD     of a root's list; the last one brings, by line of the list, the members' lines
#   LENGTHS  the lengths of a member's block
#   MEMBER   of a member's list: its first window, the cycles of each window up to the last, whether the unit ends
# The end of a unit whose list has no member to read in its last line is a MEMBER without a number.
LOAD, LENGTHS, MEMBER = range(3)
MARKER = None


class Pu:
    """A PU: unit queue, loads and visits of the streamer, port, stepper."""

    def __init__(self, number):
        self.turn = number % TURNS
        # Unit queue: room, the half that arrives, waiting halves, the first half.
        self.room, self.push, self.halves, self.half = HALVES, None, deque(), deque()
        # Loads: the next unit, the unit that waits for a place, lines to request, lists in the buffer.
        self.unit, self.placing, self.loads, self.used = None, None, deque(), 0
        # Visits: lines of loaded lists, room for them ahead, two stages of the buffer's read, lines that were read.
        self.lists, self.ahead_room, self.reads, self.ahead = deque(), AHEAD, [None, None], deque()
        # Members of the current line, members to request, lines of the current one; cycles left of a wait for lengths.
        self.members, self.next_members, self.lines, self.lengths = deque(), deque(), deque(), 0
        # Port: requests in order with their time, removals in the last two cycles, last turn used of each partition.
        self.order, self.removed, self.turns = deque(), (False, False), [-TURNS] * PARTITIONS
        # Stepper: the port's line, the first stage, waiting lines, lines not freed, the next window.
        self.line, self.stage, self.waiting, self.held, self.window = None, None, deque(), 0, 0
        self.next_steps, self.steps, self.freed, self.last_step = None, None, False, 0

    def busy(self):
        """True if a unit is left."""
        return self.room < HALVES or self.push or self.half or self.unit or self.placing or self.loads or self.used

    def tick(self, now):
        freed, self.freed = self.freed, False
        lengths_end = self.lengths == 2
        lists = self._step(now)
        self._answer(now)
        ready = len(self.order) + sum(self.removed) < ANSWERS
        self._visit(now, ready and not self.loads)
        self._load(now, ready)
        self._queue()
        self.used -= freed
        self.lists.extend(lists)
        if lengths_end:
            self.lengths = 0

    def _step(self, now):
        """Stepper. Returns the lines of a root's list with the cycle in which it is complete."""
        full, ready = self.held == WAITING, self.steps is None or self.steps[0] == 1
        if self.steps is not None:
            self.last_step = now
            cycles, last, ends = self.steps
            self.held -= cycles == 1 and last
            self.freed = cycles == 1 and last and ends
            self.steps = (cycles - 1, last, ends)
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
        lists = ()
        if self.stage is not None:
            kind, content = self.stage
            if kind == MEMBER and full:
                return ()
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
        """Port: lines leave in the order of their requests."""
        leaves = self.line is None and bool(self.order) and self.order[0][0] <= now
        if leaves:
            self.line = self.order.popleft()[1]
        self.removed = leaves, self.removed[0]

    def _request(self, now, line):
        number, *what = line
        at = now + 1
        if number is not MARKER:
            part = number % PARTITIONS
            at = max(at, self.turns[part] + TURNS)
            at += (START_TURN + self.turn + part - at) % TURNS
            self.turns[part] = at
            at += ANSWER
        self.order.append((at, what))

    def _visit(self, now, ready):
        """Members of loaded lists, one a cycle, and their lines, one a cycle while the port is `ready` for them."""
        full = len(self.next_members) == 2
        if self.lines and ready and self.lengths == 0:
            line = self.lines.popleft()
            self._request(now, line)
            if line[1] == LENGTHS:
                self.lengths = 1
        if not self.lines and self.next_members:
            self.lines = deque(self.next_members.popleft())
        if self.members and not full:
            self.next_members.append(self.members.popleft())
        follows = not self.members and bool(self.ahead)
        if follows:
            self.members = deque(self.ahead.popleft())
        read = self.lists.popleft() if self.lists and self.ahead_room else None
        self.ahead_room += follows - (read is not None)
        if self.reads[1] is not None:
            self.ahead.append(self.reads[1])
        self.reads = [read, self.reads[0]]

    def _load(self, now, ready):
        """Roots' lists: a cycle for a place in the list buffer, then a line a cycle."""
        ends = not self.placing and (not self.loads or ready and len(self.loads) == 1)
        if self.loads and ready:
            self._request(now, self.loads.popleft())
        if self.placing and self.used < LISTS:
            self.loads, self.placing = deque(self.placing), None
            self.used += 1
        held = self.unit is not None
        if ends and held:
            self.placing, self.unit = self.unit, None
        if not held and self.half:
            self.unit = self.half.popleft()

    def _queue(self):
        """Unit queue: the next half follows the last unit of one."""
        follows = not self.half and bool(self.halves)
        if follows:
            self.half = deque(self.halves.popleft())
        self.room += follows - (self.push is not None)
        if self.push is not None:
            self.halves.append(self.push)
            self.push = None


class Distributor:
    """Hands halves of beats to PUs, one a cycle."""

    def __init__(self, halves):
        self.halves, self.last = deque(halves), -1
        self.chosen = deque([None] * 4)  # in the last four cycles
        self.rooms = deque([[HALVES] * PUS] * 2)

    def tick(self, pus):
        """The PU that is chosen in this cycle, and its half; or None."""
        self.rooms.append([pu.room for pu in pus])
        rooms, choice = self.rooms.popleft(), None
        older = list(self.chosen)[:2]
        most = max((rooms[p] for p in range(PUS) if p not in older), default=0)
        able = [p for p in range(PUS) if p not in self.chosen and rooms[p] == most > 0]
        if able and self.halves:
            self.last = min(able, key=lambda p: (p - self.last - 1) % PUS)
            choice = self.last, self.halves.popleft()
        self.chosen.popleft()
        self.chosen.append(choice and choice[0])
        return choice


def cycles_of(halves):
    """Predicted cycles of a cluster. A half is up to four units, a unit the lines of its root's list."""
    if not halves:
        return NO_UNITS
    pus, distributor, now = [Pu(number) for number in range(PUS)], Distributor(halves), FIRST_CHOICE
    while distributor.halves or any(pu.busy() for pu in pus):
        choice = distributor.tick(pus)
        for pu in pus:
            pu.tick(now)
        if choice is not None:
            pus[choice[0]].push = choice[1]
        now += 1
    return max(pu.last_step for pu in pus) + LAST_STEP
