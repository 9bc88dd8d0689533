//! One task on several machines: `--distribute`.

use std::path::{Path, PathBuf};

use gramer_base::error::{Error, Result};

use super::Common;
use crate::cluster;

/// Options of every task that several processes can share.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run")]
pub struct DistributeArgs {
    /// Share the task with all processes of an MPI job: `mpirun -n 4 gramer mine … --distribute`. Each
    /// mines on the devices of --device; the first one prints the answer (docs/guide/cluster.md)
    #[arg(long)]
    #[arg(conflicts_with_all = ["estimate", "limit"])]
    #[arg(hide_short_help = true)]
    pub distribute: bool,
}

/// Position of this process among those that share a task.
pub(super) struct Ranks {
    /// Rank and number of ranks; `None` for a plain run.
    place: Option<(usize, usize)>,
}

impl Ranks {
    /// Whether others may share the task.
    pub(super) fn is_distributed(&self) -> bool {
        self.place.is_some()
    }

    /// Whether this process gives the answer.
    pub(super) fn is_answering(&self) -> bool {
        self.place.is_none_or(|(rank, _)| rank == 0)
    }

    /// The file of this rank's list.
    pub(super) fn list(&self, list: Option<&Path>) -> Result<Option<PathBuf>> {
        let (Some(list), Some((rank, ranks))) = (list, self.place) else {
            return Ok(list.map(Path::to_path_buf));
        };
        if list.as_os_str() == "-" {
            return Err(Error::usage(
                "--list -: with --distribute each process writes its own list: name a file",
            ));
        }
        if rank == 0 {
            cluster::check_lists(list, ranks)?;
        }
        Ok(Some(cluster::list_of(list, rank)))
    }

    /// Total of listed embeddings over all ranks.
    pub(super) fn listed(&self, own: Option<u64>) -> Result<Option<u64>> {
        match (self.is_distributed(), own) {
            (true, Some(own)) => cluster::with(|cluster| cluster.listed(own)).transpose(),
            _ => Ok(own),
        }
    }

    /// Name of all ranks' devices in answers.
    pub(super) fn device(&self, name: String) -> String {
        match self.place {
            Some((_, ranks)) if ranks > 1 => format!("{name} on {ranks} ranks"),
            _ => name,
        }
    }
}

impl Common {
    /// Joins the MPI job, if requested.
    pub(super) fn become_rank(&self) -> Result<()> {
        if self.distribute.distribute { cluster::open() } else { Ok(()) }
    }

    /// Returns the position of this process; rejects options that can't be shared.
    pub(super) fn ranks(&self, per: bool) -> Result<Ranks> {
        if !self.distribute.distribute {
            return Ok(Ranks { place: None });
        }
        let refused = |what: &str| Err(Error::usage(format!("{what}: leave --distribute out")));
        if per {
            return refused("--per is not the sum of what several processes count");
        }
        if self.options.profile().is_some() {
            return refused("--profile is the trace of one device of one process");
        }
        if self.graph.inputs().any(|input| input.as_os_str() == "-") {
            return Err(Error::usage(
                "standard input reaches one process alone: with --distribute, name a file that all \
                 have",
            ));
        }
        let place = cluster::with(|cluster| (cluster.rank(), cluster.size()));
        Ok(Ranks { place: place.or(Some((0, 1))) })
    }
}
