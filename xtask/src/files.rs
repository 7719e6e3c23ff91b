//! Files and folders, with errors that name them.

use jvm::{Error, Result};
use std::fs;
use std::path::Path;

/// Removes a folder with all that is in it, if it is there.
pub fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(folder, &error)),
        _ => Ok(()),
    }
}

pub fn remove_file(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(|error| failed(path, &error))
}

/// Every file below a folder, by its path from there.
pub fn names(folder: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut left = vec![String::new()];
    while let Some(under) = left.pop() {
        let at = folder.join(&under);
        for entry in fs::read_dir(&at).map_err(|error| failed(&at, &error))? {
            let entry = entry.map_err(|error| failed(&at, &error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if under.is_empty() { name } else { format!("{under}/{name}") };
            let kind = entry.file_type().map_err(|error| failed(&at, &error))?;
            if kind.is_dir() { left.push(name) } else { found.push(name) }
        }
    }
    Ok(found)
}

pub fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::failed(format!("{}: {error}", path.display()))
}
