//! `--mail-to`: sends written files by mail.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use clap::{Args, ValueEnum};
use lettre::message::Mailbox;

/// Protection of a connection to a mail server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Security {
    /// Encrypted from the start
    Tls,
    /// Encrypted after a greeting
    Starttls,
    /// Not at all
    None,
}

/// Options of every verb that writes files.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct MailArguments {
    /// Send the files that the command writes to these addresses
    #[arg(
        long,
        alias = "email",
        alias = "email-to",
        value_name = "ADDRESS,…",
        value_delimiter = ',',
        global = true,
        help_heading = "Mail",
        value_parser = mailbox,
        hide_short_help = true
    )]
    pub mail_to: Vec<Mailbox>,
    /// Sender [default: the user at this host]
    #[arg(
        long,
        alias = "email-from",
        value_name = "ADDRESS",
        global = true,
        help_heading = "Mail",
        value_parser = mailbox,
        hide_short_help = true
    )]
    pub mail_from: Option<Mailbox>,
    /// Subject [default: the command and the names of the files]
    #[arg(long, alias = "email-subject", value_name = "TEXT", value_parser = line, global = true, help_heading = "Mail",
          hide_short_help = true)]
    pub mail_subject: Option<String>,
    /// Also show the first text or page in the mail itself
    #[arg(long, alias = "inline-preview", global = true, help_heading = "Mail", hide_short_help = true)]
    pub mail_inline: bool,
    /// Send the files as one ZIP archive
    #[arg(long, alias = "zip-attachments", global = true, help_heading = "Mail", hide_short_help = true)]
    pub mail_zip: bool,
    /// Mail server HOST[:PORT] [default: the system's sendmail]
    #[arg(
        long,
        env = "WAVESIEVE_SMTP_SERVER",
        hide_env_values = true,
        value_name = "SERVER",
        global = true,
        help_heading = "Mail",
        hide_short_help = true
    )]
    pub smtp_server: Option<String>,
    /// User of the mail server; the password is read from WAVESIEVE_SMTP_PASSWORD or asked for
    #[arg(long, env = "WAVESIEVE_SMTP_USER", hide_env_values = true, value_name = "NAME", value_parser = line, global = true, help_heading = "Mail", hide_short_help = true)]
    pub smtp_user: Option<String>,
    /// Protection of the connection [default: tls on port 465, none on this machine, otherwise starttls]
    #[arg(
        long,
        env = "WAVESIEVE_SMTP_SECURITY",
        hide_env_values = true,
        value_enum,
        value_name = "HOW",
        global = true,
        help_heading = "Mail",
        hide_short_help = true
    )]
    pub smtp_security: Option<Security>,
}

fn mailbox(text: &str) -> Result<Mailbox, &'static str> {
    text.parse().map_err(|_| "write an address such as me@example.org")
}

/// A text of one line: further lines would become headers of the mail.
fn line(text: &str) -> Result<String, &'static str> {
    if text.chars().any(char::is_control) { Err("write it on one line") } else { Ok(text.to_owned()) }
}

/// The files that a command has written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outbox(Arc<Mutex<Vec<PathBuf>>>);

impl Outbox {
    /// Adds a written file or folder.
    pub(crate) fn add(&self, path: &Path) {
        if let Ok(mut files) = self.0.lock() {
            files.push(path.to_owned());
        }
    }

    /// The written files, each once.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let mut files = self.0.lock().map(|files| files.clone()).unwrap_or_default();
        files.sort();
        files.dedup();
        files
    }
}
