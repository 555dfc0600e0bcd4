//! What the checks look at: the text files git knows or would add, and the workspace's crates.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use cargo_metadata::{DependencyKind, MetadataCommand};

/// The repository, read once.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Where the work tree lies on this machine.
    pub(super) root: PathBuf,
    /// The home folder of whoever runs this.
    pub(super) home: Option<PathBuf>,
    pub(super) files: Vec<File>,
    pub(super) packages: Vec<Package>,
}

/// A text file.
#[derive(Debug)]
pub(super) struct File {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

/// A crate of the workspace.
#[derive(Debug)]
pub(super) struct Package {
    pub(super) name: String,
    /// Path of its `Cargo.toml`, relative to the root.
    pub(super) manifest: String,
    /// Names of the workspace's crates that it is built with: normal and build dependencies. Tests may use
    /// anything.
    pub(super) uses: Vec<String>,
}

impl Tree {
    pub(super) fn load() -> anyhow::Result<Self> {
        let metadata = MetadataCommand::new().no_deps().exec().context("failed to read `cargo metadata`")?;
        let root = metadata.workspace_root.as_std_path().to_path_buf();
        let members: Vec<&str> = metadata.packages.iter().map(|package| package.name.as_str()).collect();
        let packages = metadata.packages.iter().map(|package| Package {
            name: package.name.to_string(),
            manifest: relative(&root, package.manifest_path.as_std_path()),
            uses: package
                .dependencies
                .iter()
                .filter(|used| {
                    used.kind != DependencyKind::Development && members.contains(&used.name.as_str())
                })
                .map(|used| used.name.clone())
                .collect(),
        });
        let packages = packages.collect();
        let files = files(&root)?;
        Ok(Self { root, home: std::env::home_dir(), files, packages })
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(super) fn with_extension(&self, extension: &str) -> impl Iterator<Item = &File> {
        self.files.iter().filter(move |file| file.extension() == Some(extension))
    }

    pub(super) fn rust(&self) -> impl Iterator<Item = &File> {
        self.with_extension("rs")
    }
}

impl File {
    /// The lines with their numbers, from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Whether it lies below a folder of one of these names, at any depth, or has one as its own name.
    pub(super) fn is_below(&self, names: &[&str]) -> bool {
        self.path.split('/').any(|part| names.contains(&part))
    }

    pub(super) fn extension(&self) -> Option<&str> {
        Path::new(&self.path).extension()?.to_str()
    }
}

/// Everything tracked, and what is new and not ignored. A file that is not text is left out.
fn files(root: &Path) -> anyhow::Result<Vec<File>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"])
        .current_dir(root)
        .output()
        .context("failed to start `git ls-files`")?;
    ensure!(listed.status.success(), "`git ls-files` failed: {}", String::from_utf8_lossy(&listed.stderr));
    let paths = String::from_utf8(listed.stdout).context("failed to read a path that is not UTF-8")?;
    let mut files = Vec::new();
    for path in paths.split_terminator('\0') {
        let full = root.join(path);
        if !full.is_file() {
            continue; // Deleted but still in the index, or a submodule.
        }
        let bytes = std::fs::read(&full).with_context(|| format!("failed to read {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(File { path: path.to_owned(), text });
        }
    }
    Ok(files)
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

#[cfg(test)]
impl Tree {
    /// A tree of these files: (path, text).
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File { path: (*path).to_owned(), text: (*text).to_owned() };
        Self { files: files.iter().map(file).collect(), ..Self::default() }
    }

    /// The same with these crates: (name, what it uses). Their manifests are `NAME/Cargo.toml`.
    pub(super) fn with_packages(mut self, packages: &[(&str, &[&str])]) -> Self {
        let package = |(name, uses): &(&str, &[&str])| Package {
            name: (*name).to_owned(),
            manifest: format!("{name}/Cargo.toml"),
            uses: uses.iter().map(|used| (*used).to_owned()).collect(),
        };
        self.packages = packages.iter().map(package).collect();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_repository_is_read_whole() {
        let tree = Tree::load().unwrap();
        assert!(tree.file("xtask/src/tidy/tree.rs").is_some());
        assert!(tree.files.iter().all(|file| !file.path.starts_with("target/")));
        let xtask = tree.packages.iter().find(|package| package.name == "xtask").unwrap();
        assert_eq!(xtask.manifest, "xtask/Cargo.toml");
        assert_eq!(xtask.uses, [""; 0]);
    }

    #[test]
    fn a_folder_counts_by_its_whole_name() {
        let tree = Tree::of(&[("crates/wire/tests/h1.rs", ""), ("crates/wire/src/attests.rs", "")]);
        assert!(tree.files[0].is_below(&["tests"]));
        assert!(!tree.files[1].is_below(&["tests"]));
    }
}
