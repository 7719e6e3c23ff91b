use super::*;

fn ids(numbers: impl IntoIterator<Item = u32>) -> Vec<CpuId> {
    numbers.into_iter().map(CpuId).collect()
}

/// A small deterministic generator, so that a failure comes back.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

#[test]
fn reads_what_the_kernel_prints() {
    assert_eq!(parse_cpu_list("0-3,8,10-11\n"), Ok(ids([0, 1, 2, 3, 8, 10, 11])));
    assert_eq!(parse_cpu_list("0\n"), Ok(ids([0])));
    assert_eq!(parse_cpu_list("\n"), Ok(ids([])));
    assert_eq!(parse_cpu_list(""), Ok(ids([])));
    assert_eq!(parse_cpu_list("7\0\n"), Ok(ids([7])));
    assert_eq!(parse_cpu_list("5-5"), Ok(ids([5])));
}

#[test]
fn refuses_garbage_with_a_remedy() {
    for text in [
        ",",
        "1,",
        ",1",
        "-",
        "1-",
        "-1",
        "+1",
        "3-1",
        "1,1",
        "2,1",
        "0-3,2",
        "1 2",
        "a",
        "0x1",
        "1--2",
        "1-2-3",
        "4294967295",
        "4294967296",
        "99999999999999999999",
        "0-4294967295",
        "0-65536",
        "é",
        "1\n2",
        "0-31:2/16",
        "(null)",
    ] {
        let error = parse_cpu_list(text).expect_err(text);
        assert!(error.to_string().contains("such as 0-3,8"), "{error}");
    }
}

#[test]
fn the_longest_list_is_bounded() {
    let all = parse_cpu_list("0-65535").unwrap();
    assert_eq!(all.len(), CPU_LIMIT as usize);
    assert!(parse_cpu_list(&"0-65535,".repeat(1000)).is_err());
}

#[test]
fn any_set_survives_printing_and_reading() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..2000 {
        let mut expected = Vec::new();
        let mut text = Vec::new();
        let mut next = 0;
        for _ in 0..random.next(8) {
            let first = next + random.next(20) as u32;
            let last = first + random.next(5) as u32;
            expected.extend(first..=last);
            text.push(if first == last { format!("{first}") } else { format!("{first}-{last}") });
            next = last + 1;
        }
        assert_eq!(parse_cpu_list(&text.join(",")), Ok(ids(expected)), "{text:?}");
    }
}

#[test]
fn random_text_never_panics_and_what_is_accepted_ascends() {
    const ALPHABET: &[u8] = b"0123456789-, \n\0+x";
    let mut random = Random(42);
    for _ in 0..20_000 {
        let length = random.next(16);
        let text: String =
            (0..length).map(|_| ALPHABET[random.next(ALPHABET.len() as u64) as usize] as char).collect();
        if let Ok(cpus) = parse_cpu_list(&text) {
            assert!(cpus.is_sorted_by(|a, b| a < b), "{text:?}");
            assert!(cpus.iter().all(|cpu| cpu.0 < CPU_LIMIT), "{text:?}");
        }
    }
}
