//! Links between ranks.

use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use gramer_base::error::{Error, Result};

/// The connections of one rank. Messages are whole, and those of one rank come in their order.
pub trait Link {
    /// This rank: 0 to one less than [`Link::size`].
    fn rank(&self) -> usize;

    /// Number of ranks, at least 1.
    fn size(&self) -> usize;

    /// Sends a message to another rank.
    ///
    /// # Errors
    /// [`Error::Device`] if it can't be sent.
    fn send(&mut self, to: usize, message: &[u8]) -> Result<()>;

    /// The next received message with its sender; `None` if there is none now.
    ///
    /// # Errors
    /// [`Error::Device`] if the connection is broken.
    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>>;

    /// Ends in an orderly way, together with all other ranks.
    fn close(self: Box<Self>);

    /// Ends all ranks at once, as far as that can be done, and this process with this code, where its
    /// kind of link can do that.
    fn abort(self: Box<Self>, code: u8);
}

/// Link of a single rank.
#[derive(Debug, Clone, Copy, Default)]
pub struct SingleRank;

impl Link for SingleRank {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn send(&mut self, to: usize, _message: &[u8]) -> Result<()> {
        Err(Error::Device(format!("there is no rank {to}: this is the only one")))
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        Ok(None)
    }

    fn close(self: Box<Self>) {}

    fn abort(self: Box<Self>, _code: u8) {}
}

/// A rank that is a thread of this process: for tests, and for programs that try a run out.
#[derive(Debug)]
pub struct InProcess {
    rank: usize,
    to: Vec<Sender<(usize, Vec<u8>)>>,
    come: Receiver<(usize, Vec<u8>)>,
}

impl InProcess {
    /// Links of this many ranks.
    pub fn ranks(size: usize) -> Vec<InProcess> {
        let (to, come): (Vec<_>, Vec<_>) = (0..size).map(|_| channel()).unzip();
        let link = |(rank, come)| InProcess { rank, to: to.clone(), come };
        come.into_iter().enumerate().map(link).collect()
    }
}

impl Link for InProcess {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.to.len()
    }

    fn send(&mut self, to: usize, message: &[u8]) -> Result<()> {
        // A rank that has ended receives nothing, as over a network.
        let _ = self.to[to].send((self.rank, message.to_vec()));
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(usize, Vec<u8>)>> {
        match self.come.try_recv() {
            Ok(message) => Ok(Some(message)),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => Ok(None),
        }
    }

    fn close(self: Box<Self>) {}

    fn abort(self: Box<Self>, _code: u8) {}
}
