//! What foreign tests and builds need: found on this machine, or fetched into `.cache`. The system's package sources are
//! read and never changed.

use crate::cross::TARGETS;
use crate::emulated::{ARCHES, Arch};
use crate::{Outcome, output, run};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The emulators that are used.
const EMULATORS: &[&str] = &["qemu-aarch64", "qemu-riscv64"];
/// From here on QEMU answers `riscv_hwprobe`, and knows Zvfh and the models of RVA23.
const OLDEST_EMULATOR: u32 = 9;

/// A cross compiler of the GNU tools, and the C library that is built for.
pub(crate) struct Gnu {
    pub(crate) compiler: &'static str,
    /// The program loader, in the folder `lib` of the C library's tree.
    loader: &'static str,
    /// What Debian calls the two.
    packages: &'static [&'static str],
}

pub(crate) const AARCH64: Gnu = Gnu {
    compiler: "aarch64-linux-gnu-gcc",
    loader: "ld-linux-aarch64.so.1",
    packages: &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
};
pub(crate) const RISCV64: Gnu = Gnu {
    compiler: "riscv64-linux-gnu-gcc",
    loader: "ld-linux-riscv64-lp64d.so.1",
    packages: &["gcc-riscv64-linux-gnu", "libc6-dev-riscv64-cross"],
};

impl Gnu {
    /// Makes sure that it is there, and gives the folder that the C library's tree is in.
    pub(crate) fn sysroot(&self) -> Result<String, String> {
        if let Some(folder) = self.folder() {
            return Ok(folder);
        }
        install(&format!("{} with its C library", self.compiler), self.packages)?;
        self.folder().ok_or_else(|| format!("{} does not find {}", self.compiler, self.loader))
    }

    fn folder(&self) -> Option<String> {
        let path = output(Command::new(self.compiler).arg(format!("-print-file-name={}", self.loader))).ok()?;
        // A compiler repeats the name alone where it finds no such file.
        let folder = Path::new(path.trim()).parent()?.parent()?.canonicalize().ok()?;
        folder.to_str().map(str::to_owned)
    }
}

/// Fetches everything, and says where it is.
pub(crate) fn all(root: &Path) -> Outcome {
    for t in TARGETS {
        target(t.triple)?;
    }
    for Arch { triple, gnu, .. } in ARCHES {
        target(triple)?;
        println!("{triple}: {}, C library in {}", gnu.compiler, gnu.sysroot()?);
    }
    println!("emulators: {}", emulators(root)?.display());
    match plugin_emulators(root) {
        Ok(folder) => println!("emulators with plugins: {}", folder.display()),
        // No test needs them.
        Err(sentence) => println!("emulators with plugins: none: {sentence}"),
    }
    Ok(())
}

/// Makes sure that there is valgrind.
pub(crate) fn valgrind() -> Outcome {
    match output(Command::new("valgrind").arg("--version")) {
        Ok(_) => Ok(()),
        Err(_) => install("valgrind", &["valgrind", "libc6-dbg"]),
    }
}

/// Makes sure that the Rust toolchain has the library of a target.
pub(crate) fn target(triple: &str) -> Outcome {
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    if Path::new(sysroot.trim()).join("lib/rustlib").join(triple).exists() {
        return Ok(());
    }
    run(Command::new("rustup").args(["target", "add", triple]))
}

/// A folder of emulators that are new enough.
pub(crate) fn emulators(root: &Path) -> Result<PathBuf, String> {
    let new = |e: &Path| version(e).is_some_and(|v| v >= OLDEST_EMULATOR);
    found(root, &format!("{OLDEST_EMULATOR} or newer"), new, "qemu-10", |suite| {
        vec!["-t".to_owned(), format!("{suite}-backports"), "qemu-user".to_owned()]
    })
}

/// A folder of emulators that take plugins, which can count instructions: the packages of newer releases take none.
fn plugin_emulators(root: &Path) -> Result<PathBuf, String> {
    let takes = |e: &Path| output(Command::new(e).arg("--help")).is_ok_and(|text| text.contains("-plugin"));
    found(root, "with plugins", takes, "qemu-7", |suite| vec![format!("qemu-user/{suite}")])
}

/// The first number of what an emulator says of itself: `qemu-riscv64 version 10.0.2 (…)`.
fn version(emulator: &Path) -> Option<u32> {
    let text = output(Command::new(emulator).arg("--version")).ok()?;
    text.split_once("version ")?.1.split('.').next()?.parse().ok()
}

/// A folder whose emulators all fit: of the search path, else `.cache/NAME`, else fetched to there.
fn found(
    root: &Path,
    kind: &str,
    fits: impl Fn(&Path) -> bool,
    name: &str,
    wanted: impl Fn(&str) -> Vec<String>,
) -> Result<PathBuf, String> {
    let all = |folder: &PathBuf| EMULATORS.iter().all(|e| fits(&folder.join(e)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(folder) = std::env::split_paths(&path).find(all) {
        return Ok(folder);
    }
    let missing = |e: String| format!("QEMU's user mode emulators, {kind}, are missing: install them ({e})");
    let folder = unpacked(root, name, wanted).map_err(missing)?;
    if all(&folder) {
        return Ok(folder);
    }
    let why = match output(Command::new(folder.join(EMULATORS[0])).arg("--version")) {
        Ok(text) => text.lines().next().unwrap_or("").to_owned(),
        Err(error) => error,
    };
    Err(missing(format!("those in {} don't fit: {why}", folder.display())))
}

/// Installs Debian's packages, or says which.
fn install(what: &str, packages: &[&str]) -> Outcome {
    let root = fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
    if !root || !Path::new("/etc/debian_version").exists() {
        return Err(format!("{what} is missing: install what Debian calls {}", packages.join(" ")));
    }
    println!("installing {}", packages.join(" "));
    // A source that does not answer matters only if a package is missing for it.
    let _ = run(Command::new("apt-get").args(["update", "-q"]));
    run(Command::new("apt-get").args(["install", "-y", "-q", "--no-install-recommends"]).args(packages))
}

/// `.cache/NAME` with the emulators of a Debian package; `wanted` says how `apt-get download` names it, given the suite.
fn unpacked(root: &Path, name: &str, wanted: impl Fn(&str) -> Vec<String>) -> Result<PathBuf, String> {
    let cache = root.join(".cache");
    let place = cache.join(name);
    if place.exists() {
        return Ok(place);
    }
    println!("fetching QEMU's user mode emulators to .cache/{name}");
    let said = |e: std::io::Error| e.to_string();
    let source = source(Path::new("/etc/apt"), &fs::read_to_string("/etc/os-release").map_err(said)?)?;
    let (apt, part) = (cache.join("apt"), cache.join(format!("{name}.part")));
    if part.exists() {
        fs::remove_dir_all(&part).map_err(said)?;
    }
    for folder in [apt.join("lists/partial"), apt.join("archives/partial"), part.join("tree"), part.join("bin")] {
        fs::create_dir_all(folder).map_err(said)?;
    }
    let sources = apt.join(format!("mirror.{}", source.form));
    fs::write(&sources, &source.text).map_err(said)?;
    let apt_get = || {
        let mut command = Command::new("apt-get");
        for (key, value) in [
            ("Dir::Etc::sourcelist", sources.as_path()),
            ("Dir::Etc::sourceparts", Path::new("-")),
            ("Dir::State::lists", &apt.join("lists")),
            ("Dir::Cache", &apt),
            // The user that apt takes for its network may not reach a folder of ours.
            ("APT::Sandbox::User", Path::new("root")),
        ] {
            command.arg("-o").arg(format!("{key}={}", value.display()));
        }
        command.arg("-q").current_dir(&part);
        command
    };
    output(apt_get().arg("update"))?;
    output(apt_get().arg("download").args(wanted(&source.suite)))?;
    let debs = fs::read_dir(&part).map_err(said)?.filter_map(|f| Some(f.ok()?.path()));
    let deb = debs.into_iter().find(|p| p.extension().is_some_and(|e| e == "deb")).ok_or("apt-get left no file")?;
    output(Command::new("dpkg-deb").arg("-x").arg(deb).arg(part.join("tree")))?;
    // The package has emulators for thirty machines.
    for emulator in EMULATORS {
        fs::copy(part.join("tree/usr/bin").join(emulator), part.join("bin").join(emulator)).map_err(said)?;
    }
    // Named when it is whole: what was cut off is never taken for it.
    fs::rename(part.join("bin"), &place).map_err(said)?;
    fs::remove_dir_all(&part).map_err(said)?;
    Ok(place)
}

/// The system's own mirror, as a source of its release and of that one's backports.
#[derive(Debug, PartialEq)]
struct Source {
    /// `list` or `sources`: apt's two forms.
    form: &'static str,
    text: String,
    suite: String,
}

/// The source, by apt's configuration in `folder`, that serves the release which `/etc/os-release` names.
fn source(folder: &Path, os_release: &str) -> Result<Source, String> {
    let codename = os_release.lines().find_map(|l| l.strip_prefix("VERSION_CODENAME=")).unwrap_or("").trim_matches('"');
    let mut files = vec![folder.join("sources.list")];
    files
        .extend(fs::read_dir(folder.join("sources.list.d")).into_iter().flatten().filter_map(|f| Some(f.ok()?.path())));
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let found = match file.extension().and_then(|e| e.to_str()) {
            Some("list") => text.lines().find_map(|line| of_line(line, codename)),
            Some("sources") => text.split("\n\n").find_map(|stanza| of_stanza(stanza, codename)),
            _ => None,
        };
        if let Some(source) = found {
            return Ok(source);
        }
    }
    Err(format!("apt's configuration in {} has no source for the release '{codename}'", folder.display()))
}

/// `deb [options] URI suite components…`
fn of_line(line: &str, codename: &str) -> Option<Source> {
    let rest = line.trim().strip_prefix("deb ")?.trim_start();
    let options = if rest.starts_with('[') { &rest[..=rest.find(']')?] } else { "" };
    let words: Vec<&str> = rest[options.len()..].split_whitespace().collect();
    let [uri, suite, components @ ..] = words.as_slice() else { return None };
    if !serves(suite, codename) {
        return None;
    }
    let components = components.join(" ");
    let line = |suite: &str| format!("deb {options} {uri} {suite} {components}\n");
    let text = line(suite) + &line(&format!("{suite}-backports"));
    Some(Source { form: "list", text, suite: (*suite).to_owned() })
}

/// Fields, one a line, some with lines that begin with a space after them.
fn of_stanza(stanza: &str, codename: &str) -> Option<Source> {
    let lines: Vec<&str> = stanza.lines().filter(|l| !l.starts_with('#')).collect();
    let field = |name: &str| lines.iter().find_map(|l| l.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    if !field("Types")?.split_whitespace().any(|t| t == "deb") || field("Enabled") == Some("no") {
        return None;
    }
    let suite = field("Suites")?.split_whitespace().find(|s| serves(s, codename))?;
    let mut text = String::new();
    for line in &lines {
        match line.split_once(':') {
            Some(("Types", _)) => text += "Types: deb",
            Some(("Suites", _)) => text += &format!("Suites: {suite} {suite}-backports"),
            _ => text += line,
        }
        text.push('\n');
    }
    Some(Source { form: "sources", text, suite: suite.to_owned() })
}

/// Whether a suite is the release itself: `bookworm`, or `stable` where a machine follows that.
fn serves(suite: &str, codename: &str) -> bool {
    suite == codename || suite == "stable"
}

#[cfg(test)]
mod tests {
    use super::{of_line, of_stanza};

    #[test]
    fn a_line_of_the_release() {
        for (line, text) in [
            (
                "deb http://mirror.example/debian bookworm main contrib",
                "deb  http://mirror.example/debian bookworm main contrib\n\
                 deb  http://mirror.example/debian bookworm-backports main contrib\n",
            ),
            (
                "  deb [ arch=amd64 signed-by=/a/key.gpg ]  http://mirror.example/debian   bookworm main",
                "deb [ arch=amd64 signed-by=/a/key.gpg ] http://mirror.example/debian bookworm main\n\
                 deb [ arch=amd64 signed-by=/a/key.gpg ] http://mirror.example/debian bookworm-backports main\n",
            ),
        ] {
            let source = of_line(line, "bookworm").unwrap();
            assert_eq!((source.text.as_str(), source.suite.as_str(), source.form), (text, "bookworm", "list"));
        }
        for line in [
            "# deb http://mirror.example/debian bookworm main",
            "deb-src http://mirror.example/debian bookworm main",
            "deb http://mirror.example/debian bookworm-updates main",
            "deb http://other.example tools main",
            "deb [arch=amd64 http://mirror.example/debian bookworm main",
            "deb",
            "",
        ] {
            assert_eq!(of_line(line, "bookworm"), None, "{line}");
        }
    }

    #[test]
    fn a_stanza_of_the_release() {
        let stanza = "Types: deb deb-src\n# a comment\nURIs: http://mirror.example/debian\n\
                      Suites: bookworm bookworm-updates\nComponents: main\nSigned-By:\n  a key\n  of lines";
        let source = of_stanza(stanza, "bookworm").unwrap();
        let text = "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-backports\n\
                    Components: main\nSigned-By:\n  a key\n  of lines\n";
        assert_eq!((source.text.as_str(), source.suite.as_str(), source.form), (text, "bookworm", "sources"));
        for other in [
            stanza.replace("bookworm bookworm-updates", "bookworm-security"),
            stanza.replace("deb deb-src", "deb-src"),
            format!("{stanza}\nEnabled: no"),
            String::new(),
        ] {
            assert_eq!(of_stanza(&other, "bookworm"), None, "{other}");
        }
    }
}
