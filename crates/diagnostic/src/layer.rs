//! What comes of runs of Terraform that are wrong by themselves, and what to do, as data.

use ecow::EcoString;

/// What it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerCost {
    /// The first plan is made without the values, and what is asked then is not asked anything.
    NothingAskedYet,
    /// The first plan is made without the file, and what is asked then is not asked anything.
    FileNotThereYet,
    /// The provider finds no file, whatever was applied before.
    FileNeverThere,
    /// The first plan fails, before anything is made.
    FirstPlanFails,
    /// The script ends there, or goes on in another directory.
    ScriptEnds,
    /// None of them can be the first.
    NoneFirst,
    /// The run ends with an error where the service does not answer yet.
    RunFails,
    /// The run goes on, or ends, before it works.
    GoesOn,
    /// It is open to all who can read the state, and lost with it.
    ReadableInState,
    /// The same, but it is kept elsewhere, too.
    CopiedToState,
    /// The same, but its program prints it again whenever it is asked.
    PrintedToState,
    /// The wait fails, or lasts until its time is up, on every new cluster.
    WaitsInVain,
    /// Flux applies what was pushed before.
    OldSecrets,
    /// A value with a quote, a colon or a line break makes it another file, or none.
    OtherFile,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerAdvice {
    /// Two runs: one that makes it, one that uses it.
    SplitRun { reader: Option<EcoString> },
    /// Apply it by another type, which needs the kind only then.
    ApplyLater { kind: EcoString },
    /// Make the directory, or take it off the list.
    CorrectDirectory { directory: EcoString },
    /// Take one of the hand-overs out.
    BreakCircle,
    /// Into a run after GitOps, or into a job that Flux applies.
    MoveAfterGitOps { start: EcoString },
    /// `depends_on` the cluster.
    DependOnCluster { maker: EcoString },
    /// `depends_on` what makes the namespace.
    DependOnNamespace { by: EcoString },
    /// Leave the argument out.
    WaitAgain { argument: EcoString },
    /// Keep it elsewhere, or encrypt the state.
    KeepElsewhere,
    /// Let what needs it read it from where it is kept, or encrypt the state.
    ReadInPlace,
    /// Read this file instead, or write the one that is read.
    ReadFile { file: EcoString },
    /// Forward it in a script, or move the run.
    Forward { address: EcoString },
    /// Push, and start GitOps after it.
    Push { start: EcoString },
    /// Let a function write it.
    Encode { is_json: bool },
}
