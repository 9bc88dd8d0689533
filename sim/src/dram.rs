//! DRAM behind a memory bank: banks with one open row each, bank groups, refresh, turnaround between reads and writes.
//!
//! The controller is AMD's for DDR4 (PG150, *Memory Controller*): a queue for each bank group, in order within the
//! group; one activate, one precharge and one column command a clock of the controller. The queues' length is not
//! published: [`QUEUE`] is the least power of two with the sequential rate that was measured on a card.

use std::collections::VecDeque;

use gramer_machine::Dram as Kind;

/// Accesses that wait in the queue of a bank group. Rows are opened for all of them, columns are read in order.
const QUEUE: usize = 8;

/// Organisation and timing of a channel. All times are in picoseconds, an access is a line of 64 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Period of the controller's clock.
    pub clock: u64,
    /// Bank groups.
    pub groups: u64,
    /// Banks of a group.
    pub banks: u64,
    /// Lines of a row.
    pub row_lines: u64,
    /// Consecutive lines of one bank.
    pub run: u64,
    /// What follows a run: the next group and at last the next bank, or the next bank and at last the next group.
    pub groups_first: bool,
    /// The last line of a run closes its row (automatic precharge).
    pub closes: bool,
    /// Data of a line on the bus.
    pub burst: u64,
    /// Activate to column command (tRCD).
    pub row_to_column: u64,
    /// Precharge to activate (tRP).
    pub precharge: u64,
    /// Activate to precharge (tRAS).
    pub row_open: u64,
    /// Read to precharge (tRTP).
    pub read_to_precharge: u64,
    /// End of written data to precharge (tWR).
    pub write_recovery: u64,
    /// Column command to read data (CL).
    pub read_latency: u64,
    /// Column command to written data (CWL).
    pub write_latency: u64,
    /// End of written data to a read (tWTR).
    pub write_to_read: u64,
    /// Between column commands of one group (tCCD_L).
    pub column_group: u64,
    /// Between activates (tRRD_S).
    pub activate: u64,
    /// Between activates of one group (tRRD_L).
    pub activate_group: u64,
    /// Window of [`Device::activates`] activates (tFAW).
    pub window: u64,
    /// Activates in a window.
    pub activates: usize,
    /// Between refreshes (tREFI).
    pub refresh_interval: u64,
    /// A refresh (tRFC).
    pub refresh: u64,
}

/// DDR4-2400 on Alveo cards: 8 Gbit devices of 4 bits (MTA18ASF2G72PZ-2G3, speed bin 17-17-17 of JESD79-4), 64 bits of
/// data, 19.2 GB/s. Address map ROW_COLUMN_BANK_INTLV with automatic precharge by column bit 3: two lines of a bank,
/// then the next group.
pub const DDR4_2400: Device = Device {
    clock: 3_332,
    groups: 4,
    banks: 4,
    row_lines: 128,
    run: 2,
    groups_first: true,
    closes: true,
    burst: 3_332,
    row_to_column: 14_160,
    precharge: 14_160,
    row_open: 32_000,
    read_to_precharge: 7_500,
    write_recovery: 15_000,
    read_latency: 14_160,
    write_latency: 10_000,
    write_to_read: 7_500,
    column_group: 5_000,
    activate: 3_332,
    activate_group: 4_998,
    window: 13_328,
    activates: 4,
    refresh_interval: 7_800_000,
    refresh: 350_000,
};

/// Pseudo-channel of HBM2 at 900 MHz on Alveo cards: 64 bits of data, 14.4 GB/s, address map RGBCG. A line is two
/// bursts, one in each of two groups (the lowest G), so two banks count as one here, with two activates for each row.
/// Rows are measured: a closed row takes 15.5 ns more than an open one, another row 15.6 ns more again (Shuhai,
/// FCCM 2020, table IV); the rest is JESD235's.
pub const HBM2_1800: Device = Device {
    clock: 2_222,
    groups: 2,
    banks: 4,
    row_lines: 32,
    run: 32,
    groups_first: false,
    closes: false,
    burst: 4_444,
    row_to_column: 15_500,
    precharge: 15_600,
    row_open: 33_000,
    read_to_precharge: 5_555,
    write_recovery: 16_000,
    read_latency: 15_500,
    write_latency: 7_777,
    write_to_read: 7_777,
    column_group: 4_444,
    activate: 8_888,
    activate_group: 8_888,
    window: 16_000,
    activates: 2,
    refresh_interval: 3_900_000,
    refresh: 260_000,
};

impl Device {
    /// The device of a description; `None`: constant latency.
    pub fn of(kind: Kind) -> Option<&'static Device> {
        match kind {
            Kind::Ideal => None,
            Kind::Ddr4 => Some(&DDR4_2400),
            Kind::Hbm2 => Some(&HBM2_1800),
        }
    }

    /// Time of a read of a closed row, from its column in the queue to the end of its data.
    pub fn closed_read(&self) -> u64 {
        self.row_to_column + self.read_latency + self.burst
    }

    /// Upper bound of the time between two accesses of one bank with different rows.
    pub fn row_cycle(&self) -> u64 {
        let written = self.write_latency + self.burst + self.write_recovery;
        self.row_to_column + written.max(self.row_open) + self.precharge + self.clock
    }

    fn place(&self, line: u64) -> Place {
        let run = line / self.run;
        let (group, bank) = match self.groups_first {
            true => (run % self.groups, run / self.groups % self.banks),
            false => (run / self.banks % self.groups, run % self.banks),
        };
        // A row is full when all banks' rows of its number are.
        let row = line / (self.row_lines * self.groups * self.banks);
        Place { group: group as usize, bank: bank as usize, row }
    }
}

/// Where a line lies.
#[derive(Debug, Clone, Copy)]
struct Place {
    group: usize,
    bank: usize,
    row: u64,
}

#[derive(Debug, Clone, Copy)]
struct Access<T> {
    line: u64,
    write: bool,
    token: T,
}

#[derive(Debug, Clone, Copy, Default)]
struct Bank {
    row: Option<u64>,
    /// Earliest column command, precharge and activate.
    column: u64,
    close: u64,
    open: u64,
}

impl Bank {
    /// Closes the row at a time.
    fn shut(&mut self, at: u64, device: &Device) {
        self.row = None;
        self.open = self.open.max(at + device.precharge);
    }
}

#[derive(Debug)]
struct Group<T> {
    banks: Vec<Bank>,
    queue: VecDeque<(Access<T>, Place)>,
    column: u64,   // the earliest next column command
    activate: u64, // the earliest next activate
}

/// One channel with its controller. `T` names an access.
#[derive(Debug)]
pub struct Dram<T> {
    device: &'static Device,
    now: u64,
    waiting: VecDeque<Access<T>>,
    groups: Vec<Group<T>>,
    queued: usize,
    /// The group that comes first.
    turn: usize,
    /// Earliest read and write.
    read: u64,
    write: u64,
    /// Times of the last activates.
    activates: VecDeque<u64>,
    refresh_due: u64,
    busy_until: u64, // a refresh
}

impl<T: Copy> Dram<T> {
    /// An idle channel at time 0.
    pub fn new(device: &'static Device) -> Self {
        let group = || Group {
            banks: vec![Bank::default(); device.banks as usize],
            queue: VecDeque::new(),
            column: 0,
            activate: 0,
        };
        Dram {
            device,
            now: 0,
            waiting: VecDeque::new(),
            groups: (0..device.groups).map(|_| group()).collect(),
            queued: 0,
            turn: 0,
            read: 0,
            write: 0,
            activates: VecDeque::new(),
            refresh_due: device.refresh_interval,
            busy_until: 0,
        }
    }

    /// Asks for a line, by its number in the channel.
    pub fn ask(&mut self, line: u64, write: bool, token: T) {
        self.waiting.push_back(Access { line, write, token });
    }

    /// Runs the controller up to `until`; `done` receives each access that got its column command, and the time at which
    /// its data ends.
    pub fn advance(&mut self, until: u64, mut done: impl FnMut(T, u64)) {
        while self.now < until {
            let idle = self.queued == 0 && self.waiting.is_empty();
            if idle && self.refresh_due > until {
                // The grid of the clock stays.
                self.now += (until - self.now).div_ceil(self.device.clock) * self.device.clock;
                return;
            }
            self.clock(&mut done);
            self.now += self.device.clock;
        }
    }

    /// One clock of the controller.
    fn clock(&mut self, done: &mut impl FnMut(T, u64)) {
        let now = self.now;
        if let Some(first) = self.waiting.front() {
            let place = self.device.place(first.line);
            if self.groups[place.group].queue.len() < QUEUE {
                let access = self.waiting.pop_front().expect("it was seen");
                self.groups[place.group].queue.push_back((access, place));
                self.queued += 1;
            }
        }
        if now < self.busy_until {
            return;
        }
        if now >= self.refresh_due {
            let banks = || self.groups.iter().flat_map(|group| &group.banks);
            if banks().all(|bank| now >= bank.open && (bank.row.is_none() || now >= bank.close)) {
                self.busy_until = now + self.device.precharge + self.device.refresh;
                self.refresh_due += self.device.refresh_interval;
                for bank in self.groups.iter_mut().flat_map(|group| &mut group.banks) {
                    bank.row = None;
                }
            }
            return;
        }
        if let Some((token, end)) = self.column() {
            done(token, end);
        }
        self.activate();
        self.close();
    }

    /// Gives one column command, to the next group in round robin whose first access is ready.
    fn column(&mut self) -> Option<(T, u64)> {
        let (now, device) = (self.now, self.device);
        let count = self.groups.len();
        let ready = |group: &Group<T>| {
            let (access, place) = group.queue.front()?;
            let bank = &group.banks[place.bank];
            let free =
                now >= group.column && now >= if access.write { self.write } else { self.read };
            (free && bank.row == Some(place.row) && now >= bank.column).then_some(())
        };
        let at = (0..count)
            .map(|n| (self.turn + n) % count)
            .find(|&g| ready(&self.groups[g]).is_some())?;
        self.turn = (at + 1) % count;
        let group = &mut self.groups[at];
        let (access, place) = group.queue.pop_front().expect("it was ready");
        self.queued -= 1;
        group.column = now + device.column_group;
        let bank = &mut group.banks[place.bank];
        let end = if access.write {
            let end = now + device.write_latency + device.burst;
            self.write = now + device.burst;
            self.read = end + device.write_to_read;
            bank.close = bank.close.max(end + device.write_recovery);
            end
        } else {
            let end = now + device.read_latency + device.burst;
            self.read = now + device.burst;
            // Two clocks between the data of a read and that of a write.
            self.write = end + 2 * device.clock - device.write_latency;
            bank.close = bank.close.max(now + device.read_to_precharge);
            end
        };
        if device.closes && access.line % device.run == device.run - 1 {
            let close = bank.close;
            bank.shut(close, device);
        }
        Some((access.token, end))
    }

    /// Opens one row that an access waits for.
    fn activate(&mut self) {
        let (now, device) = (self.now, self.device);
        let window = self.activates.len() == device.activates
            && self.activates.front().is_some_and(|&first| now < first + device.window);
        let last = self.activates.back().is_some_and(|&last| now < last + device.activate);
        if window || last {
            return;
        }
        for group in &mut self.groups {
            if now < group.activate {
                continue;
            }
            let found = group.queue.iter().enumerate().find(|(at, (_, place))| {
                let bank = &group.banks[place.bank];
                bank.row.is_none()
                    && now >= bank.open
                    && group.queue.range(..at).all(|(_, before)| before.bank != place.bank)
            });
            let Some((_, &(_, place))) = found else { continue };
            let bank = &mut group.banks[place.bank];
            *bank = Bank {
                row: Some(place.row),
                column: now + device.row_to_column,
                close: now + device.row_open,
                open: now,
            };
            group.activate = now + device.activate_group;
            self.activates.push_back(now);
            if self.activates.len() > device.activates {
                self.activates.pop_front();
            }
            return;
        }
    }

    /// Closes one row in the way of the first access of its bank.
    fn close(&mut self) {
        let (now, device) = (self.now, self.device);
        for group in &mut self.groups {
            let found = group.queue.iter().enumerate().find(|(at, (_, place))| {
                let bank = &group.banks[place.bank];
                bank.row.is_some_and(|row| row != place.row)
                    && now >= bank.close
                    && group.queue.range(..at).all(|(_, before)| before.bank != place.bank)
            });
            let Some((_, &(_, place))) = found else { continue };
            group.banks[place.bank].shut(now, device);
            return;
        }
    }
}

#[cfg(test)]
mod tests;
