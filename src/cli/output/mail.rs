//! Sends written files, through the system's sendmail or a mail server.

use std::env;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use lettre::message::header::{ContentTransferEncoding, ContentType};
use lettre::message::{Attachment, Body, Mailbox, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Message, SmtpTransport, Transport};
#[cfg(unix)]
use parking_lot::Mutex;
#[cfg(unix)]
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use walkdir::WalkDir;
use zip::write::SimpleFileOptions;

use super::messages;
use crate::cli::exit::{Failure, refuse};
use crate::cli::options::global::GlobalArguments;
use crate::cli::options::mail::{MailArguments, Security};
use crate::invocation::{is_stderr_terminal, is_stdin_terminal};

/// The variable with the password of the mail server.
const PASSWORD: &str = "WAVESIEVE_SMTP_PASSWORD";
/// Maximum bytes of a mail: mail servers reject larger ones.
const MAX_BYTES: u64 = 25 << 20;
/// Paths of sendmail if PATH does not have it.
const SENDMAILS: [&str; 3] = ["/usr/sbin/sendmail", "/usr/lib/sendmail", "/usr/bin/sendmail"];
const TIMEOUT: Duration = Duration::from_secs(60);

/// Sends the files that a command has written, if requested.
///
/// # Errors
/// [`Failure::Usage`] if nothing was written. Also when the mail cannot be made or sent.
pub(crate) fn send_written(verb: &str, global: &GlobalArguments) -> Result<(), Failure> {
    let mail = &global.mail;
    if mail.mail_to.is_empty() {
        return Ok(());
    }
    let files = global.outbox.files();
    if files.is_empty() {
        refuse!("--mail-to sends files, and none was written; name one with -o");
    }
    let message = message(verb, mail, &files)?;
    match &mail.smtp_server {
        Some(server) => send_to(server, mail, &message)?,
        None => pipe(mail, &message)?,
    }
    if !global.quiet {
        let receivers: Vec<String> = mail.mail_to.iter().map(|to| to.email.to_string()).collect();
        messages::print_note(format_args!("sent {} to {}", names(&files).join(", "), receivers.join(", ")));
    }
    Ok(())
}

fn names(files: &[PathBuf]) -> Vec<String> {
    files.iter().map(|file| file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()).collect()
}

fn message(verb: &str, mail: &MailArguments, written: &[PathBuf]) -> Result<Message> {
    let files = files_in(written)?;
    ensure!(!files.is_empty(), "{} holds no file to send; name a file with -o", names(written).join(", "));
    let bytes: u64 = files.iter().map(|(path, _)| fs::metadata(path).map_or(0, |facts| facts.len())).sum();
    ensure!(
        bytes <= MAX_BYTES || mail.mail_zip,
        "{} MiB are more than mail servers take; send less, or an archive with --mail-zip",
        bytes >> 20
    );
    let subject =
        mail.mail_subject.clone().unwrap_or_else(|| format!("wavesieve {verb}: {}", names(written).join(", ")));
    let from = mail.mail_from.clone().map_or_else(sender, Ok)?;
    let mut builder = Message::builder().from(from).subject(&subject);
    for to in &mail.mail_to {
        builder = builder.to(to.clone());
    }
    let inline = files.iter().filter(|_| mail.mail_inline).find_map(|(path, _)| shown(path));
    let body = match inline {
        Some((text, ContentTypeOf::Page)) => SinglePart::html(text),
        Some((text, ContentTypeOf::Text)) => SinglePart::plain(text),
        None => SinglePart::plain(format!("{}\n", names(written).join("\n"))),
    };
    let mut parts = MultiPart::mixed().singlepart(body);
    if mail.mail_zip {
        let archive = archive(&files)?;
        ensure!(
            archive.len() as u64 <= MAX_BYTES,
            "the archive has {} MiB, more than mail servers take; send less",
            archive.len() >> 20
        );
        parts =
            parts.singlepart(Attachment::new("wavesieve.zip".to_owned()).body(encoded(archive)?, content_type("zip")?));
    } else {
        for (path, name) in &files {
            let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
            let kind = content_type(extension.as_deref().unwrap_or_default())?;
            parts = parts.singlepart(Attachment::new(name.clone()).body(encoded(content)?, kind));
        }
    }
    builder.multipart(parts).context("cannot make the mail")
}

/// The bytes in base64: other encodings change line ends.
fn encoded(content: Vec<u8>) -> Result<Body> {
    Body::new_with_encoding(content, ContentTransferEncoding::Base64)
        .map_err(|_| anyhow::anyhow!("internal: a file cannot be encoded"))
}

/// The files, and the files in folders, with their names in the mail.
fn files_in(written: &[PathBuf]) -> Result<Vec<(PathBuf, String)>> {
    let mut files = Vec::new();
    for path in written {
        let top = path.parent().unwrap_or(path);
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.with_context(|| format!("cannot read {}", path.display()))?;
            if entry.file_type().is_file() {
                let name = entry.path().strip_prefix(top).unwrap_or(entry.path()).to_string_lossy().replace('\\', "/");
                files.push((entry.path().to_owned(), name));
            }
        }
    }
    Ok(files)
}

enum ContentTypeOf {
    Page,
    Text,
}

/// The text of a file that a mail can show, with its type.
fn shown(path: &Path) -> Option<(String, ContentTypeOf)> {
    let kind = match path.extension()?.to_str()? {
        "html" => ContentTypeOf::Page,
        "txt" | "md" | "csv" | "tsv" | "json" => ContentTypeOf::Text,
        _ => return None,
    };
    Some((fs::read_to_string(path).ok()?, kind))
}

fn content_type(extension: &str) -> Result<ContentType> {
    let kind = match extension {
        "html" => "text/html; charset=utf-8",
        "txt" | "md" => "text/plain; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "json" => "application/json",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" => "image/jpeg",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        _ => "application/octet-stream",
    };
    ContentType::parse(kind).context("internal: a type of content is unknown")
}

fn archive(files: &[(PathBuf, String)]) -> Result<Vec<u8>> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, name) in files {
        archive.start_file(name.as_str(), SimpleFileOptions::default()).context("cannot make the archive")?;
        let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        archive.write_all(&content)?;
    }
    Ok(archive.finish().context("cannot make the archive")?.into_inner())
}

/// The user at this host.
fn sender() -> Result<Mailbox> {
    let user = env::var("USER").or_else(|_| env::var("LOGNAME")).unwrap_or_else(|_| "wavesieve".to_owned());
    let host = fs::read_to_string("/proc/sys/kernel/hostname").map(|host| host.trim().to_owned());
    let host = host.ok().filter(|host| !host.is_empty()).unwrap_or_else(|| "localhost".to_owned());
    format!("{user}@{host}")
        .parse()
        .with_context(|| format!("{user}@{host} is not an address; name the sender with --mail-from"))
}

/// Sends through a mail server.
fn send_to(server: &str, mail: &MailArguments, message: &Message) -> Result<()> {
    let (host, port) =
        host_and_port(server).with_context(|| format!("{server} is not a server; write HOST or HOST:PORT"))?;
    let is_here = matches!(host, "localhost" | "127.0.0.1" | "::1");
    let security = mail.smtp_security.unwrap_or(match port {
        Some(465) => Security::Tls,
        _ if is_here => Security::None,
        _ => Security::Starttls,
    });
    let parameters = || TlsParameters::new(host.to_owned()).context("cannot prepare encryption");
    let tls = match security {
        Security::Tls => Tls::Wrapper(parameters()?),
        Security::Starttls => Tls::Required(parameters()?),
        Security::None => Tls::None,
    };
    let default = match security {
        Security::Tls => 465,
        Security::Starttls => 587,
        Security::None => 25,
    };
    let mut transport =
        SmtpTransport::builder_dangerous(host).port(port.unwrap_or(default)).tls(tls).timeout(Some(TIMEOUT));
    if let Some(user) = &mail.smtp_user {
        ensure!(
            security != Security::None || is_here,
            "a password is not sent to {host} without encryption; choose --smtp-security tls or starttls"
        );
        transport = transport.credentials(Credentials::new(user.clone(), password(user, host)?));
    }
    transport.build().send(message).with_context(|| format!("cannot send the mail through {server}"))?;
    Ok(())
}

/// The parts of `HOST`, `HOST:PORT`, `[ADDRESS]` and `[ADDRESS]:PORT`. An address without brackets has no port.
fn host_and_port(server: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match server.strip_prefix('[').map(|rest| rest.split_once(']')) {
        Some(bracketed) => bracketed?,
        None if server.matches(':').count() > 1 => (server, ""),
        None => server.split_at_checked(server.find(':').unwrap_or(server.len()))?,
    };
    let port = match port.strip_prefix(':') {
        Some(port) => Some(port.parse().ok()?),
        None if port.is_empty() => None,
        None => return None,
    };
    (!host.is_empty()).then_some((host, port))
}

/// The password, from the environment or typed by the user.
fn password(user: &str, host: &str) -> Result<String> {
    if let Ok(password) = env::var(PASSWORD) {
        return Ok(password);
    }
    ensure!(
        is_stdin_terminal() && is_stderr_terminal(),
        "the password of {user} at {host} is not known; set {PASSWORD}"
    );
    messages::print_note(format_args!("password of {user} at {host}:"));
    hidden_line()
}

/// The settings of the terminal from before a hidden line.
#[cfg(unix)]
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// A line that stays hidden while it is typed.
#[cfg(unix)]
fn hidden_line() -> Result<String> {
    let terminal = std::io::stdin();
    let before = tcgetattr(&terminal)?;
    let mut silent = before.clone();
    silent.local_modes.remove(LocalModes::ECHO);
    *BEFORE.lock() = Some(before);
    tcsetattr(&terminal, OptionalActions::Now, &silent)?;
    let mut line = String::new();
    let read = terminal.read_line(&mut line);
    show_typing();
    read?;
    Ok(line.trim_end_matches(['\n', '\r']).to_owned())
}

/// Shows again what is typed, also when a signal ends the program at a hidden line.
pub(crate) fn show_typing() {
    #[cfg(unix)]
    if let Some(before) = BEFORE.lock().take() {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &before);
    }
}

#[cfg(not(unix))]
fn hidden_line() -> Result<String> {
    bail!("the password cannot be asked for here; set {PASSWORD}")
}

/// Passes the mail to the system's sendmail.
fn pipe(mail: &MailArguments, message: &Message) -> Result<()> {
    let folders: Vec<PathBuf> = env::var_os("PATH").iter().flat_map(env::split_paths).collect();
    let places = folders.iter().map(|folder| folder.join("sendmail")).chain(SENDMAILS.iter().map(PathBuf::from));
    let Some(program) = places.into_iter().find(|place| place.is_file()) else {
        bail!("sendmail not found; install it, or name a mail server with --smtp-server");
    };
    let shown = program.display();
    let mut child = Command::new(&program)
        .arg("-i")
        .arg("--")
        .args(mail.mail_to.iter().map(|to| to.email.to_string()))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot run {shown}"))?;
    if let Some(mut input) = child.stdin.take() {
        // If sendmail stops reading, its exit status gives the better reason.
        let _ = input.write_all(&message.formatted());
    }
    let status = child.wait()?;
    ensure!(status.success(), "{shown} rejected the mail ({status})");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_a_host_and_perhaps_a_port() {
        for (server, expected) in [
            ("mail", Some(("mail", None))),
            ("mail:25", Some(("mail", Some(25)))),
            ("::1", Some(("::1", None))),
            ("[::1]", Some(("::1", None))),
            ("[::1]:465", Some(("::1", Some(465)))),
            ("mail:", None),
            ("mail:x", None),
            (":25", None),
            ("[::1", None),
            ("[::1]25", None),
        ] {
            assert_eq!(host_and_port(server), expected, "{server}");
        }
    }
}
