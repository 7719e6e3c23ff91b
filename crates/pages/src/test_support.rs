//! What the tests of several files need.

use crate::size::PageSize;
use std::fs;
use std::path::{Path, PathBuf};

/// A pool's folder with `nr`, `free`, `resv` and `nr_overcommit` pages.
pub(crate) fn pool_folder(root: &Path, size: PageSize, numbers: [u64; 4]) -> PathBuf {
    let folder = crate::pool::folder(root, size);
    fs::create_dir(&folder).unwrap();
    for (name, number) in ["nr", "free", "resv", "nr_overcommit"].iter().zip(numbers) {
        fs::write(folder.join(format!("{name}_hugepages")), format!("{number}\n")).unwrap();
    }
    folder
}
