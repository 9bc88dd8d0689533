//! Ranks as processes of an MPI job.

use mpi::Threading;
use mpi::environment::Universe;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Equivalence, Source};

use gramer_base::error::{Error, Result};

use crate::link::Link;

/// Bytes of a message that go together; MPI counts them in 31 bits.
const PIECE: usize = 1 << 26;
/// Says that more pieces of the message follow.
const MORE: i32 = 1;
/// Says that this is a message's last piece.
const LAST: i32 = 2;

/// What start a process as a rank say so in one of these.
const LAUNCHED: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];

/// The rank that the launcher of this process has given it; `None` where it was not started as one.
/// Known before MPI is.
pub fn launched_as() -> Option<usize> {
    LAUNCHED.iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

/// Makes Open MPI skip its search for networks if all ranks run on this host: the search takes a fifth of a second. A
/// transport that the user has configured is kept.
///
/// # Safety
/// No other thread may run: the environment is changed.
pub unsafe fn stay_on_host() {
    const TRANSPORT: &str = "OMPI_MCA_pml";
    let ranks = |name| std::env::var(name).ok()?.parse::<usize>().ok();
    let here = ranks("OMPI_COMM_WORLD_LOCAL_SIZE");
    let chosen = [TRANSPORT, "OMPI_MCA_mtl", "OMPI_MCA_btl"];
    if here.is_some()
        && here == ranks("OMPI_COMM_WORLD_SIZE")
        && chosen.iter().all(|name| std::env::var_os(name).is_none())
    {
        // SAFETY: no other thread runs, as the caller promises.
        unsafe { std::env::set_var(TRANSPORT, "ob1") }
    }
}

/// A rank of an MPI job. All calls come from the thread that opened it.
pub struct Mpi {
    universe: Universe,
    world: SimpleCommunicator,
    /// Pieces of messages that have not come whole, by rank.
    begun: Vec<Vec<u8>>,
}

impl Mpi {
    /// Becomes a rank, once per process.
    ///
    /// # Errors
    /// [`Error::Device`] if the process is a rank already, or this MPI allows no further threads.
    pub fn open() -> Result<Self> {
        let opened = mpi::initialize_with_threading(Threading::Funneled);
        let (universe, threading) = opened
            .ok_or_else(|| Error::Device("MPI is already initialised in this process".into()))?;
        if threading < Threading::Funneled {
            return Err(Error::Device(
                "this MPI does not support threads (MPI_THREAD_FUNNELED): use one that does".into(),
            ));
        }
        let world = universe.world();
        let begun = vec![vec![]; world.size() as usize];
        Ok(Mpi { universe, world, begun })
    }
}

impl Link for Mpi {
    fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    fn size(&self) -> usize {
        self.world.size() as usize
    }

    fn send(&mut self, to: usize, message: &[u8]) -> Result<()> {
        let process = self.world.process_at_rank(to as i32);
        let last = message.len().saturating_sub(1) / PIECE;
        for at in 0..=last {
            let piece = &message[at * PIECE..message.len().min((at + 1) * PIECE)];
            process.send_with_tag(piece, if at == last { LAST } else { MORE });
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        loop {
            let Some((message, status)) = self.world.any_process().immediate_matched_probe() else {
                return Ok(None);
            };
            let from = status.source_rank() as usize;
            let mut piece = vec![0u8; status.count(u8::equivalent_datatype()) as usize];
            message.matched_receive_into(&mut piece[..]);
            let whole = &mut self.begun[from];
            match whole.is_empty() {
                true => *whole = piece,
                false => whole.extend(piece),
            }
            if status.tag() == LAST {
                return Ok(Some((from, std::mem::take(whole))));
            }
        }
    }

    fn close(self: Box<Self>) {
        drop(self.universe);
    }

    fn abort(self: Box<Self>, code: u8) {
        self.world.abort(code.into());
    }
}
