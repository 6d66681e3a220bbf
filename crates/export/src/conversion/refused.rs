//! Why a conversion is refused.

use thiserror::Error;

/// Why an output cannot be written or brought up to date.
#[derive(Debug, Error)]
pub enum Refused {
    /// It is a file.
    #[error("{0} is a file; name a directory")]
    File(String),
    /// It is neither a file nor a directory.
    #[error("{0} is not a directory; name one")]
    NoDirectory(String),
    /// Something else is there.
    #[error("{0} is not empty; name another directory")]
    NotEmpty(String),
    /// A dataset is there, without a record of its conversion.
    #[error("{0} holds a dataset and not what it was made from; name another directory or add --overwrite")]
    NoConversion(String),
    /// Something is in it that no conversion wrote, and that would be lost.
    #[error("{0} holds {1}, which convert did not write; move it elsewhere or name another directory")]
    Foreign(String, String),
    /// It was made from something else.
    #[error("{0} was converted from other inputs; name another directory or add --overwrite")]
    OtherInputs(String),
    /// It was made in another way.
    #[error("{0} was converted with other filters or to another format; name another directory or add --overwrite")]
    OtherKind(String),
    /// Parts of it were never written.
    #[error("{0} of {1} are missing: convert them, or add --partial to finish without them")]
    MissingShards(String, String),
    /// Nothing was converted in shards.
    #[error("{0} has no shards; convert the inputs with --shard first")]
    NoShards(String),
    /// Shards of several divisions, of which none is complete.
    #[error("shards of {0} are of several divisions, and none is complete: {1}; complete one of them")]
    SeveralDivisions(String, String),
    /// A shard was converted in another way.
    #[error("{0} was converted {1}, this command is {2}; convert that shard again")]
    OtherShard(String, String, String),
    /// Shards were converted from other files.
    #[error("the shards were converted from different inputs ({0}); convert them again from the same files")]
    DifferentShards(String),
    /// A file is not as it was.
    #[error("{0} changed after {1} was converted; convert that shard again")]
    ChangedInput(String, String),
    /// A file is not among the inputs.
    #[error("{1} was converted from {0}, which is not among the inputs; name the same inputs as for the shards")]
    OtherShardInput(String, String),
    /// A file is in no shard.
    #[error("{0} is in none of the shards; convert them again, they are of fewer inputs")]
    NewInput(String),
    /// A dataset cannot be divided.
    #[error("{0} is a dataset, which --shard does not divide; leave --shard out")]
    ShardOfDataset(String),
    /// Tables over all processes are made of all rows.
    #[error("{0} depends on all rows of all ranks; leave out the filters, or --shard")]
    JointOfPart(String),
}
