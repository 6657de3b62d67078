//! The words that the store writes for states, modes and the like.

/// An enumeration that is one word each, in the store, for programs and for people.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$one:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$one])* $variant),* }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The word.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word),* }
            }

            /// The one of this word.
            pub fn of(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.word() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

words! {
    /// What began a run.
    Trigger {
        /// Somebody typed a command.
        Manual = "manual",
        /// A timer or a pipeline did.
        Schedule = "schedule",
    }
}

words! {
    /// What a run does with its stacks.
    Mode {
        Plan = "plan",
        Apply = "apply",
        Destroy = "destroy",
        Drift = "drift",
    }
}

words! {
    /// How far a run is.
    RunState {
        Pending = "pending",
        Planning = "planning",
        Planned = "planned",
        Applying = "applying",
        Applied = "applied",
        Failed = "failed",
        Unconfirmed = "unconfirmed",
        /// A newer run of the same set took its place.
        Superseded = "superseded",
    }
}

words! {
    /// How far a stack of a run is.
    StackState {
        Pending = "pending",
        Planning = "planning",
        Planned = "planned",
        Applying = "applying",
        Applied = "applied",
        Failed = "failed",
        /// A stack that it depends on failed; the row says which.
        Blocked = "blocked",
        /// Nothing was to be done, so Terraform was not run.
        Noop = "noop",
        Unconfirmed = "unconfirmed",
        /// It was begun, and nobody told how it ended.
        Unknown = "unknown",
        /// It was not asked for.
        Skipped = "skipped",
    }
}

words! {
    /// A part of the work on one stack that has a result of its own.
    Phase {
        Plan = "plan",
        Apply = "apply",
        Destroy = "destroy",
    }
}

words! {
    /// What a look for drift found.
    DriftState {
        Clean = "clean",
        Drifted = "drifted",
        Failed = "failed",
    }
}

words! {
    /// How a named check ended.
    CheckState {
        Pass = "pass",
        Warn = "warn",
        Fail = "fail",
    }
}

words! {
    /// What the audit writes down.
    Action {
        /// A run took the lock of a stack.
        Take = "take",
        /// The lock went to another process or run.
        Move = "move",
        /// The run let its lock go.
        Release = "release",
        /// Somebody took the lock away.
        Unlock = "unlock",
        /// A stack is going to be applied.
        Apply = "apply",
        /// A stack is going to be destroyed.
        Destroy = "destroy",
    }
}

impl RunState {
    /// True for a run that has ended and does not change any more.
    pub fn is_final(self) -> bool {
        matches!(self, RunState::Applied | RunState::Failed | RunState::Unconfirmed | RunState::Superseded)
    }

    /// True where a run may come from here to `next`. A failed run may be resumed; one that was superseded may not.
    pub fn may_become(self, next: RunState) -> bool {
        use RunState::*;
        match (self, next) {
            (a, b) if a == b => true,
            (Applied | Superseded | Unconfirmed, _) => false,
            (Failed, Planning | Applying | Superseded) => true,
            (Failed, _) => false,
            (_, Failed | Superseded) => true,
            (Pending, _) => true,
            (Planning, Planned | Applying | Applied | Unconfirmed) => true,
            (Planned, Planning | Applying | Applied) => true,
            (Applying, Planning | Applied) => true,
            _ => false,
        }
    }
}

impl StackState {
    /// True where nothing more happens to the stack in this run.
    pub fn is_settled(self) -> bool {
        !matches!(self, StackState::Pending | StackState::Planning | StackState::Applying)
    }
}
