//! Files and folders, with errors that name them.

use jvm::{Error, Result};
use std::fmt::Display;
use std::fs;
use std::path::Path;

/// An error that names the file.
pub fn at<E: Display>(path: &Path) -> impl Fn(E) -> Error + '_ {
    move |error| Error::failed(format!("{}: {error}", path.display()))
}

pub fn text(path: impl AsRef<Path>) -> Result<String> {
    fs::read_to_string(&path).map_err(at(path.as_ref()))
}

pub fn bytes(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    fs::read(&path).map_err(at(path.as_ref()))
}

pub fn write(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Result<()> {
    fs::write(&path, content).map_err(at(path.as_ref()))
}

pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<()> {
    fs::copy(&from, to).map(drop).map_err(at(from.as_ref()))
}

pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<()> {
    fs::rename(from, &to).map_err(at(to.as_ref()))
}

pub fn create(folder: impl AsRef<Path>) -> Result<()> {
    fs::create_dir_all(&folder).map_err(at(folder.as_ref()))
}

/// An empty folder.
pub fn fresh(folder: &Path) -> Result<()> {
    remove(folder)?;
    create(folder)
}

/// Removes a folder with all that is in it, if it is there.
pub fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at(folder)(error)),
        _ => Ok(()),
    }
}

pub fn remove_file(path: impl AsRef<Path>) -> Result<()> {
    fs::remove_file(&path).map_err(at(path.as_ref()))
}

/// Every file below a folder, by its path from there.
pub fn names(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut left = vec![String::new()];
    while let Some(under) = left.pop() {
        let here = folder.join(&under);
        for entry in fs::read_dir(&here).map_err(at(&here))? {
            let entry = entry.map_err(at(&here))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if under.is_empty() { name } else { format!("{under}/{name}") };
            let kind = entry.file_type().map_err(at(&here))?;
            if kind.is_dir() { left.push(name) } else { found.push(name) }
        }
    }
    Ok(found)
}
