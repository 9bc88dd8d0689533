//! Work for all compute units at once, one thread each.

use std::sync::atomic::Ordering;

use gramer_base::error::Result;
use gramer_base::parallel::for_parts;
use opencl3::context::Context as Cl;

use super::card::Card;
use super::compute_unit::ComputeUnit;
use super::places::Places;
use super::stop::Stop;

/// Where a compute unit is.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// Among those of its device.
    pub(super) at: u32,
    /// The device.
    pub(super) name: &'a str,
    pub(super) cl: &'a Cl,
    pub(super) places: &'a Places,
}

/// All compute units with their places, in the order of the devices.
pub(super) fn placed(cards: &mut [Card]) -> impl Iterator<Item = (&mut ComputeUnit, Place<'_>)> {
    cards.iter_mut().flat_map(|card| {
        let (name, cl, places) = (&*card.name, &card.context, &*card.places);
        let units = (0..).zip(&mut card.units);
        units.map(move |(at, unit)| (unit, Place { at, name, cl, places }))
    })
}

/// What `work` gives on each compute unit, in the order of the devices, with one of `items` each. If one fails, the
/// others are stopped. A panic of one thread is passed on to the caller.
pub(super) fn on_units<I: Send, R: Send>(
    cards: &mut [Card],
    items: impl IntoIterator<Item = I>,
    stop: &Stop<'_>,
    work: impl Fn(&mut ComputeUnit, Place<'_>, I) -> Result<R> + Sync,
) -> Vec<Result<R>> {
    for_parts(placed(cards).zip(items).collect(), |((unit, place), item)| {
        let outcome = work(unit, place, item);
        if outcome.is_err() {
            stop.raised.store(true, Ordering::Relaxed);
        }
        outcome
    })
}
