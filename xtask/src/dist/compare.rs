//! The first file that differs between two archives of one name.

use jvm::{Error, Result};
use std::io::Read;
use std::path::Path;

/// What one of two archives has and the other has not: the archive's name, and that of the first file in it which is not the same.
/// `None`: the same bytes.
pub fn first_difference(name: &str, here: &[u8], there: &[u8]) -> Result<Option<String>> {
    if here == there {
        return Ok(None);
    }
    let inner = match Path::new(name).extension().and_then(|extension| extension.to_str()) {
        Some("deb") => different_member(deb(name, here)?, deb(name, there)?)?,
        Some("gz") => different_member(tar(name, here)?, tar(name, there)?)?,
        _ => return Ok(Some(name.to_owned())),
    };
    Ok(Some(format!("{name}: {}", inner.unwrap_or_else(|| "the same files, packed differently".to_owned()))))
}

/// A file in an archive: what the archive says of it, and its bytes.
struct Member {
    name: String,
    header: Vec<u8>,
    bytes: Vec<u8>,
}

fn different_member(here: Vec<Member>, there: Vec<Member>) -> Result<Option<String>> {
    let (mut here, mut there) = (here.into_iter(), there.into_iter());
    loop {
        return Ok(Some(match (here.next(), there.next()) {
            (None, None) => return Ok(None),
            (Some(one), None) => format!("{} is only here", one.name),
            (None, Some(other)) => format!("{} is only elsewhere", other.name),
            (Some(one), Some(other)) if one.name != other.name => {
                format!("{} here, {} elsewhere", one.name, other.name)
            }
            (Some(one), Some(other)) => match first_difference(&one.name, &one.bytes, &other.bytes)? {
                Some(inner) => inner,
                None if one.header == other.header => continue,
                None => format!("{}: the same bytes, another time, mode or target", one.name),
            },
        }));
    }
}

fn tar(name: &str, bytes: &[u8]) -> Result<Vec<Member>> {
    let failed = |error: std::io::Error| Error::failed(format!("{name}: {error}"));
    let mut members = Vec::new();
    for entry in tar::Archive::new(flate2::read::GzDecoder::new(bytes)).entries().map_err(failed)? {
        let mut entry = entry.map_err(failed)?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(failed)?;
        members.push(Member {
            name: entry.path().map_err(failed)?.display().to_string(),
            header: entry.header().as_bytes().to_vec(),
            bytes,
        });
    }
    Ok(members)
}

/// `archive::ar` read back.
fn deb(name: &str, bytes: &[u8]) -> Result<Vec<Member>> {
    let cut = || Error::failed(format!("{name}: not as `ar` writes it"));
    let mut rest = bytes.strip_prefix(b"!<arch>\n").ok_or_else(cut)?;
    let mut members = Vec::new();
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(60).ok_or_else(cut)?;
        let field = |range| String::from_utf8_lossy(&header[range]).trim().to_owned();
        let size: usize = field(48..58).parse().map_err(|_| cut())?;
        let (bytes, after) = after.split_at_checked(size).ok_or_else(cut)?;
        members.push(Member { name: field(0..16), header: header.to_vec(), bytes: bytes.to_vec() });
        rest = after.get(size % 2..).unwrap_or_default();
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::super::archive::{ar, tar_gz};
    use super::*;

    fn packed(text: &str, seconds: u64) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "a").unwrap();
        std::fs::write(folder.path().join("b"), text).unwrap();
        tar_gz(folder.path(), "it/", seconds).unwrap()
    }

    #[test]
    fn the_same_bytes_are_no_difference() {
        assert_eq!(first_difference("it.tar.gz", &packed("b", 7), &packed("b", 7)).unwrap(), None);
    }

    #[test]
    fn the_first_file_that_differs_is_named() {
        let found = first_difference("it.tar.gz", &packed("b", 7), &packed("c", 7)).unwrap();
        assert_eq!(found.unwrap(), "it.tar.gz: it/b");
        let found = first_difference("it.tar.gz", &packed("b", 7), &packed("b", 8)).unwrap();
        assert_eq!(found.unwrap(), "it.tar.gz: it/a: the same bytes, another time, mode or target");
        assert_eq!(first_difference("it.jar", b"one", b"other").unwrap().unwrap(), "it.jar");
    }

    #[test]
    fn a_package_is_looked_into() {
        let package = |text| ar(&[("odd", b"odd".to_vec()), ("data.tar.gz", packed(text, 7))], 7);
        let found = first_difference("it.deb", &package("b"), &package("c")).unwrap();
        assert_eq!(found.unwrap(), "it.deb: data.tar.gz: it/b");
        let short = ar(&[("odd", b"odd".to_vec())], 7);
        let found = first_difference("it.deb", &package("b"), &short).unwrap();
        assert_eq!(found.unwrap(), "it.deb: data.tar.gz is only here");
    }
}
