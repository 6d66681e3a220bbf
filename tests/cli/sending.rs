//! Where results go: mails, PDF files, tables to be pasted, and pictures.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread::{JoinHandle, spawn};

use crate::common::{finish, program, run, succeed};
use crate::verbs::WRITERS;

/// A mail server for one mail: it knows a password, and refuses a receiver whose name begins with `no`.
fn server() -> (String, JoinHandle<(Vec<String>, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let talk = spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut answers = stream.try_clone().unwrap();
        let mut lines = BufReader::new(stream).lines();
        let (mut commands, mut mail) = (Vec::new(), String::new());
        answers.write_all(b"220 ready\r\n").unwrap();
        while let Some(Ok(line)) = lines.next() {
            let answer = match line.split(' ').next().unwrap_or_default() {
                "EHLO" => "250-here\r\n250 AUTH PLAIN LOGIN",
                "AUTH" if line.contains("AHVzZXIAc2VjcmV0") => "235 welcome",
                "AUTH" => "535 wrong password",
                "RCPT" if line.contains("<no") => "550 nobody has this name",
                "DATA" => {
                    answers.write_all(b"354 go on\r\n").unwrap();
                    for line in lines.by_ref().map_while(Result::ok).take_while(|line| line != ".") {
                        mail.push_str(line.strip_prefix('.').unwrap_or(&line));
                        mail.push('\n');
                    }
                    "250 taken"
                }
                "QUIT" => "221 bye",
                _ => "250 yes",
            };
            commands.push(line);
            answers.write_all(format!("{answer}\r\n").as_bytes()).unwrap();
        }
        (commands, mail)
    });
    (address, talk)
}

/// The text after the head of the attachment of a name, up to the next part, decoded.
fn attachment(mail: &str, name: &str) -> Vec<u8> {
    let part = mail.split("\n--").find(|part| part.contains(&format!("filename=\"{name}\""))).expect("an attachment");
    let (head, body) = part.split_once("\n\n").unwrap();
    use base64::Engine as _;
    assert!(head.contains("base64"), "{head}");
    let text: String = body.split_whitespace().collect();
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

#[test]
fn files_are_sent_through_a_server() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("kernels.csv");
    let (address, talk) = server();
    let mut command = program(&[
        "table",
        "kernel_summary",
        "fixtures/merged",
        "-o",
        file.to_str().unwrap(),
        "--mail-to",
        "one@example.org,Two <two@example.org>",
        "--mail-from",
        "me@example.org",
        "--mail-subject",
        "nightly – run",
        "--smtp-server",
        &address,
        "--smtp-user",
        "user",
    ]);
    command.env("WAVESIEVE_SMTP_PASSWORD", "secret");
    let found = finish(command);
    assert_eq!(found.code, 0, "{}", found.stderr);
    assert!(found.stderr.contains("sent kernels.csv to one@example.org, two@example.org"), "{}", found.stderr);
    assert!(!found.stderr.contains("secret") && !found.stdout.contains("secret"));
    let (commands, mail) = talk.join().unwrap();
    let receivers: Vec<&String> = commands.iter().filter(|line| line.starts_with("RCPT")).collect();
    assert_eq!(receivers, ["RCPT TO:<one@example.org>", "RCPT TO:<two@example.org>"]);
    assert!(mail.contains("From: me@example.org") && mail.contains("Subject: nightly =?utf-8?b?"), "{mail}");
    assert_eq!(attachment(&mail, "kernels.csv"), fs::read(&file).unwrap());
}

#[test]
fn a_report_is_shown_in_the_mail_and_zipped() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("report.html");
    let (address, talk) = server();
    let arguments = ["report", "-q", "fixtures/merged", "-o", file.to_str().unwrap(), "--email", "one@example.org"];
    let more = ["--smtp-server", &address, "--mail-inline", "--mail-zip"];
    succeed(&[&arguments[..], &more].concat());
    let (_, mail) = talk.join().unwrap();
    assert!(mail.contains("Subject: wavesieve report: report.html") && mail.contains("Content-Type: text/html"));
    let archive = attachment(&mail, "wavesieve.zip");
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive)).unwrap();
    let mut content = Vec::new();
    std::io::copy(&mut archive.by_name("report.html").unwrap(), &mut content).unwrap();
    assert_eq!(content, fs::read(&file).unwrap());
}

#[test]
fn what_a_server_refuses_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("a.csv");
    let arguments = ["table", "kernel_summary", "-q", "fixtures/merged", "-o", file.to_str().unwrap()];
    let send = |more: &[&str]| {
        let (address, _talk) = server();
        let mut command = program(&[&arguments[..], &["--smtp-server", &address], more].concat());
        command.env("WAVESIEVE_SMTP_PASSWORD", "wrong");
        finish(command)
    };
    let nobody = send(&["--mail-to", "nobody@example.org"]);
    assert!(nobody.code == 1 && nobody.stderr.contains("nobody has this name"), "{}", nobody.stderr);
    let password = send(&["--mail-to", "one@example.org", "--smtp-user", "user"]);
    assert!(password.code == 1 && password.stderr.contains("wrong password"), "{}", password.stderr);
    let refused = |more: &[&str]| {
        let found = run(&[&arguments[..], more].concat());
        assert_ne!(found.code, 0);
        found.stderr
    };
    let open = refused(&[
        "--mail-to",
        "a@example.org",
        "--smtp-server",
        "mail.example.org",
        "--smtp-user",
        "u",
        "--smtp-security",
        "none",
    ]);
    assert!(open.contains("without encryption"), "{open}");
    for more in [&["--mail-to", "no address"][..], &["--mail-to", "a@b.org", "--mail-subject", "a\nBcc: x@y.org"]] {
        assert_eq!(run(&[&arguments[..], more].concat()).code, 2);
    }
    let nothing = run(&["table", "kernel_summary", "-q", "fixtures/merged", "--mail-to", "a@example.org"]);
    assert_eq!(nothing.code, 2, "{}", nothing.stderr);
}

#[cfg(unix)]
fn executable(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
#[cfg(unix)]
fn sendmail_takes_the_mail_where_no_server_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let (mail, file) = (directory.path().join("mail"), directory.path().join("a.md"));
    executable(
        &directory.path().join("sendmail"),
        &format!("#!/bin/sh\necho \"$@\" > {0}; cat >> {0}\n", mail.display()),
    );
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
    let mut command = program(&["table", "kernel_summary", "fixtures/merged", "-o", file.to_str().unwrap()]);
    command.args(["--mail-to", "one@example.org", "--mail-inline"]).env("PATH", &path);
    let found = finish(command);
    assert_eq!(found.code, 0, "{}", found.stderr);
    let text = fs::read_to_string(&mail).unwrap();
    assert!(text.starts_with("-i -- one@example.org\n") && text.contains("filename=\"a.md\""), "{text}");
    executable(&directory.path().join("sendmail"), "#!/bin/sh\nexit 75\n");
    let mut command = program(&["table", "kernel_summary", "fixtures/merged", "-o", file.to_str().unwrap()]);
    command.args(["--mail-to", "one@example.org"]).env("PATH", &path);
    let found = finish(command);
    assert!(found.code != 0 && found.stderr.contains("rejected the mail"), "{}", found.stderr);
}

#[test]
fn answers_are_tables_to_be_pasted() {
    let text = succeed(&["table", "kernel_summary", "-q", "fixtures/merged", "-f", "html"]);
    assert!(text.starts_with("<table style=") && text.trim_end().ends_with("</table>"), "{text}");
    assert!(text.contains("text-align:right\">") && text.contains("&lt;"), "{text}");
    let rows = succeed(&["table", "kernel_summary", "-q", "fixtures/merged", "-f", "csv"]).lines().count();
    assert_eq!(text.matches("<tr>").count(), rows);
}

#[test]
fn charts_are_jpeg_pictures_if_wanted() {
    let directory = tempfile::tempdir().unwrap();
    let charts = directory.path().join("charts");
    let arguments = ["table", "kernel_summary", "-q", "fixtures/merged", "--charts", charts.to_str().unwrap()];
    succeed(&[&arguments[..], &["--chart-format", "jpeg,svg"]].concat());
    let picture = fs::read(charts.join("kernel_summary.jpg")).unwrap();
    assert!(picture.starts_with(&[0xff, 0xd8, 0xff]) && picture.ends_with(&[0xff, 0xd9]));
    assert!(charts.join("kernel_summary.svg").exists() && !charts.join("kernel_summary.png").exists());
    // It is an earlier chart, which may be written over; another file is not.
    succeed(&[&arguments[..], &["--chart-format", "jpeg"]].concat());
    fs::write(charts.join("kernel_summary.jpg"), "mine").unwrap();
    assert_eq!(run(&[&arguments[..], &["--chart-format", "jpeg"]].concat()).code, 2);
}

/// A browser that prints what it is given, or fails.
#[test]
#[cfg(unix)]
fn a_browser_prints_pdf_files() {
    let directory = tempfile::tempdir().unwrap();
    let browser = directory.path().join("browser");
    let with = |arguments: &[&str]| {
        let mut command = program(arguments);
        command.env("WAVESIEVE_BROWSER", &browser);
        finish(command)
    };
    // Its own files are next to the page, and are gone with it.
    let script = "#!/bin/sh\n[ \"$XDG_CONFIG_HOME\" = \"$HOME\" ] || exit 9\nfor word in \"$@\"; do case \"$word\" in --print-to-pdf=*) out=\"${word#*=}\";; file://*) \
                  page=\"${word#file://}\";; esac; done\n[ \"$HOME\" = \"${page%/*}\" ] || exit 8\n(echo '%PDF-1.4'; cat \"$page\") > \"$out\"\n";
    executable(&browser, script);
    let file = directory.path().join("report.pdf");
    let name = file.to_str().unwrap();
    for arguments in [
        &["report", "-q", "fixtures/merged", "-o", name][..],
        &["analyze", "-q", "fixtures/merged", "-o", name],
        &["compare", "-q", "fixtures/merged", "fixtures/merged", "-o", name],
        &["table", "kernel_summary", "-q", "fixtures/merged", "-o", name],
        &["sql", "-q", "SELECT 1 AS a", "fixtures/merged", "-o", name],
    ] {
        let found = with(arguments);
        assert!([0, 4].contains(&found.code), "{arguments:?}: {}", found.stderr);
        let text = String::from_utf8(fs::read(&file).unwrap()).unwrap();
        assert!(text.starts_with("%PDF-1.4\n<!") || text.starts_with("%PDF-1.4\n<html"), "{arguments:?}");
        fs::remove_file(&file).unwrap();
    }
    executable(&browser, "#!/bin/sh\nexit 1\n");
    let failed = with(&["table", "kernel_summary", "-q", "fixtures/merged", "-o", name]);
    assert!(failed.code != 0 && failed.stderr.contains("failed to print the page"), "{}", failed.stderr);
    assert!(!file.exists());
    let mut command = program(&["table", "kernel_summary", "-q", "fixtures/merged", "-o", name]);
    command.env("PATH", directory.path()).env_remove("WAVESIEVE_BROWSER");
    let none = finish(command);
    assert!(none.code != 0 && none.stderr.contains("no browser is there"), "{}", none.stderr);
}

/// Everything that writes files or folders can send them.
#[test]
#[cfg(unix)]
fn what_any_verb_writes_is_sent() {
    let directory = tempfile::tempdir().unwrap();
    executable(&directory.path().join("sendmail"), &format!("#!/bin/sh\ncat > {}/mail\n", directory.path().display()));
    let path = format!("{}:{}", directory.path().display(), std::env::var("PATH").unwrap());
    let input = "fixtures/merged";
    let mut lines: Vec<Vec<String>> = WRITERS.iter().map(|writer| writer.words(input)).collect();
    let others: [&[&str]; 9] = [
        &["table", "kernel_summary,api_summary", input, "-f", "csv"],
        &["analyze", input, "-f", "csv"],
        &["compare", input, input, "-f", "csv"],
        &["report", "fixtures/two_nodes", "--group-by", "folder", "-d"],
        &["convert", input],
        &["convert", input, "--to", "otf2"],
        &["convert", input, "--to", "rocprofv3-csv"],
        &["trim", input],
        &["package", input],
    ];
    lines.extend(others.iter().map(|line| line.iter().map(|word| (*word).to_owned()).collect()));
    for (number, line) in lines.iter().enumerate() {
        let ending = if line.first().is_some_and(|verb| verb == "package") { ".rpdb" } else { "" };
        let (output, mail) = (directory.path().join(format!("out{number}{ending}")), directory.path().join("mail"));
        let mut command = program(&line.iter().map(String::as_str).collect::<Vec<_>>());
        if line.last().is_none_or(|word| word != "-d") {
            command.arg("-o");
        }
        command.arg(&output).args(["-q", "--mail-to", "one@example.org"]).env("PATH", &path);
        let found = finish(command);
        assert!(matches!(found.code, 0 | 4 | 7), "{line:?}: {}", found.stderr);
        let text = fs::read_to_string(&mail).unwrap_or_else(|_| panic!("{line:?} is not sent: {}", found.stderr));
        assert!(text.contains("Content-Disposition: attachment; filename=\"out"), "{line:?}: {text}");
        fs::remove_file(&mail).unwrap();
    }
}

/// A file of settings in a project cannot choose the receivers of results, or the password.
#[test]
fn settings_do_not_choose_receivers() {
    let directory = tempfile::tempdir().unwrap();
    for key in ["mail-to = \"a@example.org\"", "smtp-server = \"example.org\"", "keep-environment = true"] {
        fs::write(directory.path().join("wavesieve.toml"), key).unwrap();
        let mut command = program(&["schema", "tables"]);
        command.current_dir(directory.path());
        let found = finish(command);
        assert_eq!(found.code, 2, "{key}: {}", found.stderr);
    }
}
