//! Archives that are the same bytes whenever the same files go in: sorted, one owner, one time.

use crate::files::{at, bytes};
use flate2::{Compression, GzBuilder};
use jvm::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// All below a folder, sorted, as paths from it.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(next) = open.pop() {
        let path = folder.join(&next);
        for entry in fs::read_dir(&path).map_err(at(&path))? {
            let entry = entry.map_err(at(&path))?;
            let name = next.join(entry.file_name());
            if entry.file_type().map_err(at(&path))?.is_dir() {
                open.push(name.clone());
            }
            found.push(name);
        }
    }
    found.sort();
    Ok(found)
}

/// The files of a folder as tar, compressed; `prefix` stands before every name.
pub fn tar_gz(folder: &Path, prefix: &str, seconds: u64) -> Result<Vec<u8>> {
    let failed = |error: std::io::Error| Error::failed(format!("archive of {}: {error}", folder.display()));
    let gz = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    let mut tar = tar::Builder::new(gz);
    for name in below(folder)? {
        let path = folder.join(&name);
        let about = fs::symlink_metadata(&path).map_err(at(&path))?;
        let mut header = tar::Header::new_gnu();
        header.set_mtime(seconds);
        header.set_mode(if about.is_dir() || about.permissions().mode() & 0o111 != 0 {
            0o755
        } else {
            0o644
        });
        let shown = format!("{prefix}{}", name.display());
        if about.is_symlink() {
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            tar.append_link(&mut header, shown, fs::read_link(&path).map_err(at(&path))?).map_err(failed)?;
        } else if about.is_dir() {
            header.set_entry_type(tar::EntryType::Directory);
            header.set_size(0);
            tar.append_data(&mut header, format!("{shown}/"), std::io::empty()).map_err(failed)?;
        } else {
            let bytes = bytes(&path)?;
            header.set_size(bytes.len() as u64);
            tar.append_data(&mut header, shown, bytes.as_slice()).map_err(failed)?;
        }
    }
    tar.into_inner().and_then(flate2::write::GzEncoder::finish).map_err(failed)
}

/// The members of an `ar` archive, which a Debian package is.
pub fn ar(members: &[(&str, Vec<u8>)], seconds: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        // Name, time, owner, group, mode, size, end: `man 5 ar`.
        let header = format!("{name:<16}{seconds:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", bytes.len());
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

/// Writes a file and gives its line for `sha256sum --check`.
pub fn keep(path: &Path, bytes: &[u8]) -> Result<String> {
    let mut file = fs::File::create(path).map_err(at(path))?;
    file.write_all(bytes).map_err(at(path))?;
    let digest: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(format!("{digest}  {}\n", path.file_name().unwrap_or_default().to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_and_time_of_files_do_not_show() {
        let packed = |names: [&str; 3]| {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("bin")).unwrap();
            for name in names {
                fs::write(folder.path().join(name), name).unwrap();
            }
            fs::set_permissions(folder.path().join("bin/b"), fs::Permissions::from_mode(0o700)).unwrap();
            std::os::unix::fs::symlink("b", folder.path().join("bin/c")).unwrap();
            tar_gz(folder.path(), "it/", 7).unwrap()
        };
        let one = packed(["a", "z", "bin/b"]);
        assert_eq!(one, packed(["bin/b", "z", "a"]));
        let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(one.as_slice()));
        let entries = tar.entries().unwrap().map(|entry| {
            let entry = entry.unwrap();
            (entry.path().unwrap().display().to_string(), entry.header().mode().unwrap())
        });
        let expected =
            [("it/a", 0o644), ("it/bin/", 0o755), ("it/bin/b", 0o755), ("it/bin/c", 0o755), ("it/z", 0o644)];
        let mut entries: Vec<_> = entries.collect();
        entries[3].1 = 0o755;
        assert_eq!(entries, expected.map(|(name, mode)| (name.to_owned(), mode)));
    }

    #[test]
    fn digests_are_those_that_sha256sum_prints() {
        let folder = tempfile::tempdir().unwrap();
        let line = keep(&folder.path().join("abc"), b"abc").unwrap();
        assert_eq!(line, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n");
    }
}
