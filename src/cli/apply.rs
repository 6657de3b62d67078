//! `suil apply`, and `suil` alone.

use super::{Context, Outcome};
use crate::base::Problem;

/// `suil` alone: pick roles from a list, then run.
pub fn pick(_context: &Context) -> Outcome {
    Err(Problem::usage("there is no terminal to pick roles on").help("name them: `suil apply --role ROLE`").into())
}
