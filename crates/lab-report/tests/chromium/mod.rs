//! A headless Chromium, driven over its DevTools protocol: enough of it to open a page, ask it questions and look at it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::{Message, WebSocket};

/// How long anything may take; a machine that tests in parallel is slow.
const PATIENCE: Duration = Duration::from_secs(600);

/// Where a Chromium is, if there is one.
pub fn found() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("TERRACE_CHROMIUM") {
        return Some(path.into());
    }
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file() && works(path))
}

/// A file of that name may be a package's that tells how to install it.
fn works(program: &PathBuf) -> bool {
    let asked = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    asked.is_ok_and(|answer| {
        answer.status.success() && String::from_utf8_lossy(&answer.stdout).contains("Chrom")
    })
}

/// A browser with one page; it ends when this is dropped.
pub struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    next: u64,
    session: Option<String>,
    /// What the page reported without being asked.
    pub events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// `None` where it ends before it can be asked, as a sandbox may have it.
    pub fn start(program: &PathBuf) -> Option<Browser> {
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
            ])
            .args(["--remote-debugging-port=0", "--force-device-scale-factor=1"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|why| panic!("{} cannot be started: {why}", program.display()));
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let listening = |line: String| Some(line.split_once("DevTools listening on ws://")?.1.to_owned());
        let Some(address) = lines.by_ref().map_while(Result::ok).find_map(listening) else {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        };
        // It writes on; nobody reads, but it must not block.
        std::thread::spawn(move || lines.for_each(drop));
        let host = address.split('/').next().unwrap().to_owned();
        let stream = TcpStream::connect(&host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(format!("ws://{address}"), stream).unwrap();
        let mut browser =
            Browser { child, socket, next: 0, session: None, events: vec![], _profile: profile };
        let targets = browser.call("Target.getTargets", json!({}));
        let page = targets["targetInfos"]
            .as_array()
            .unwrap()
            .iter()
            .find(|target| target["type"] == "page")
            .unwrap();
        let attached =
            browser.call("Target.attachToTarget", json!({"targetId": page["targetId"], "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method of the page and waits for its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let mut request = json!({"id": self.next, "method": method, "params": params});
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        self.socket.send(Message::text(request.to_string())).unwrap();
        loop {
            let message: Value = match self.socket.read().unwrap_or_else(|why| panic!("{method}: {why}")) {
                Message::Text(text) => serde_json::from_str(&text).unwrap(),
                _ => continue,
            };
            if message["id"] == self.next {
                assert!(message.get("error").is_none(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// The value of an expression in the page.
    pub fn ask(&mut self, expression: &str) -> Value {
        let found = self.call(
            "Runtime.evaluate",
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true}),
        );
        assert!(found.get("exceptionDetails").is_none(), "{expression}: {}", found["exceptionDetails"]);
        found["result"]["value"].clone()
    }

    /// The size of the window and whether dark is preferred.
    pub fn look(&mut self, width: u32, height: u32, scheme: &str) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", features);
    }

    /// Opens a page and waits until it says that it is drawn.
    pub fn open(&mut self, url: &str) {
        // What was there before is gone first, so that it cannot be taken for the new page.
        self.ask("delete document.documentElement.dataset.ready");
        self.call("Page.navigate", json!({"url": url}));
        let until = Instant::now() + PATIENCE;
        let ready = "document.documentElement?.dataset.ready === 'true'";
        while self.ask(ready) != true {
            assert!(Instant::now() < until, "not ready; {:?}", self.complaints());
            std::thread::sleep(Duration::from_millis(50));
        }
        self.settle();
    }

    /// Two frames: observers of sizes and pointers have been called.
    pub fn settle(&mut self) {
        self.ask("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))");
    }

    /// Errors and warnings of the console, and exceptions.
    pub fn complaints(&self) -> Vec<String> {
        let bad = |event: &&Value| match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => event["params"]["type"] != "log",
            Some("Log.entryAdded") => true,
            _ => false,
        };
        self.events.iter().filter(bad).map(|event| event["params"].to_string()).collect()
    }

    /// The addresses of all requests.
    pub fn requests(&self) -> Vec<String> {
        let sent = self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| Some(event["params"]["request"]["url"].as_str()?.to_owned())).collect()
    }

    /// The page as it looks, all of it or what the window shows, as PNG.
    pub fn screenshot(&mut self, whole: bool) -> Vec<u8> {
        let shot =
            self.call("Page.captureScreenshot", json!({"format": "png", "captureBeyondViewport": whole}));
        data_encoding::BASE64.decode(shot["data"].as_str().unwrap().as_bytes()).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
