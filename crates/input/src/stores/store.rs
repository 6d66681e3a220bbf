//! Blocking requests to a store for the objects below an address.

use std::io::Read as _;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use anyhow::{Context as _, Result};
use bytes::Bytes;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::path::Path as ObjectPath;
use object_store::{ClientConfigKey, ClientOptions, ObjectStore, ObjectStoreExt as _, RetryConfig, WriteMultipart};
use tokio::runtime::{Builder, Runtime};

use super::address::{Address, Scheme};
use super::failure::StoreFailure;
use wavesieve_files::regular;

/// The variable with the timeout in seconds of a request, and of its retries together.
const SECONDS_VARIABLE: &str = "WAVESIEVE_STORE_SECONDS";
/// Its default.
const SECONDS: u64 = 60;
/// Maximum number of retries of a request.
const RETRIES: usize = 5;
/// A file with more bytes is sent in parts: stores have limits for one request.
const WHOLE_BYTES: u64 = 256 << 20;
/// Bytes of a part.
const CHUNK_BYTES: usize = 32 << 20;
/// Parts that are sent at the same time.
const PARTS_AT_ONCE: usize = 4;

/// An object as a store lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Path below the address.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// The objects below an address.
#[derive(Debug)]
pub struct ObjectPlace {
    store: Arc<dyn ObjectStore>,
    prefix: ObjectPath,
    shown: String,
}

impl ObjectPlace {
    /// Prepares requests without sending any. Credentials come from the environment.
    ///
    /// # Errors
    /// When settings in the environment contradict each other.
    pub fn new(address: &Address) -> Result<Self> {
        let shown = address.to_string();
        let seconds = std::env::var(SECONDS_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(SECONDS).max(1);
        let limit = Duration::from_secs(seconds);
        let retry = RetryConfig { max_retries: RETRIES, retry_timeout: limit, ..RetryConfig::default() };
        let (url, timeout) = (address.url().as_str(), format!("{seconds} seconds"));
        let settings = || format!("the environment has settings with which {shown} cannot be opened");
        let store: Arc<dyn ObjectStore> = match address.scheme() {
            Scheme::S3 => {
                let builder =
                    AmazonS3Builder::from_env().with_url(url.replacen("s3a://", "s3://", 1)).with_retry(retry);
                let key = AmazonS3ConfigKey::Client(ClientConfigKey::Timeout);
                Arc::new(builder.with_config(key, timeout).build().map_err(scrubbed).with_context(settings)?)
            }
            Scheme::Google => {
                let builder = GoogleCloudStorageBuilder::from_env().with_url(url).with_retry(retry);
                let key = GoogleConfigKey::Client(ClientConfigKey::Timeout);
                Arc::new(builder.with_config(key, timeout).build().map_err(scrubbed).with_context(settings)?)
            }
            Scheme::Azure => {
                let builder = MicrosoftAzureBuilder::from_env().with_url(url).with_retry(retry);
                let key = AzureConfigKey::Client(ClientConfigKey::Timeout);
                Arc::new(builder.with_config(key, timeout).build().map_err(scrubbed).with_context(settings)?)
            }
            Scheme::Http => {
                let options = ClientOptions::new().with_allow_http(true).with_timeout(limit);
                let builder = HttpBuilder::new().with_url(url).with_retry(retry).with_client_options(options);
                Arc::new(builder.build().map_err(scrubbed).with_context(settings)?)
            }
        };
        let prefix = match address.scheme() {
            Scheme::Http => ObjectPath::default(),
            _ => ObjectPath::from_url_path(address.url().path()).with_context(settings)?,
        };
        Ok(Self { store, prefix, shown })
    }

    /// The address.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    fn object(&self, name: &str) -> ObjectPath {
        name.split('/').fold(self.prefix.clone(), |path, part| path.join(part))
    }

    fn failure(&self, error: &object_store::Error, name: &str) -> StoreFailure {
        StoreFailure::of(error, &format!("{}/{name}", self.shown))
    }

    fn wait<T>(&self, name: &str, request: impl Future<Output = object_store::Result<T>>) -> Result<T, StoreFailure> {
        let runtime = runtime().map_err(|error| StoreFailure::Error(self.shown.clone(), format!(" ({error})")))?;
        runtime.block_on(request).map_err(|error| self.failure(&error, name))
    }

    /// The content of an object.
    ///
    /// # Errors
    /// When it cannot be fetched.
    pub fn get(&self, name: &str) -> Result<Bytes, StoreFailure> {
        self.wait(name, async { self.store.get(&self.object(name)).await?.bytes().await })
    }

    /// Parts of an object, in the order of the ranges.
    ///
    /// # Errors
    /// When one cannot be fetched.
    pub(crate) fn get_ranges(&self, name: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, StoreFailure> {
        self.wait(name, async { self.store.get_ranges(&self.object(name), ranges).await })
    }

    /// All objects below the address, in the order of their names.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn list(&self) -> Result<Vec<Listed>, StoreFailure> {
        let base = format!("{}/", self.prefix);
        let mut found = self.wait("", async {
            let mut folders = vec![self.prefix.clone()];
            let mut found = Vec::new();
            // Folder by folder, because web servers with WebDAV list only one at a time.
            while let Some(folder) = folders.pop() {
                let listed = self.store.list_with_delimiter(Some(&folder)).await?;
                folders.extend(listed.common_prefixes);
                found.extend(listed.objects);
            }
            Ok(found)
        })?;
        found.sort_by(|one, other| one.location.cmp(&other.location));
        let listed = found.into_iter().map(|object| {
            let location = object.location.to_string();
            let name = if self.prefix.as_ref().is_empty() {
                location.as_str()
            } else {
                location.strip_prefix(&base).unwrap_or(&location)
            };
            Listed { name: name.to_owned(), bytes: object.size }
        });
        Ok(listed.collect())
    }

    /// Writes an object.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, name: &str, content: Vec<u8>) -> Result<(), StoreFailure> {
        self.wait(name, async { self.store.put(&self.object(name), content.into()).await.map(drop) })
    }

    /// Writes a file as an object, in parts if it is large; returns its bytes.
    ///
    /// # Errors
    /// When the file cannot be read or the object cannot be written.
    pub fn put_file(&self, name: &str, path: &Path) -> Result<u64> {
        let mut file = regular::open(path).with_context(|| format!("cannot open {}", path.display()))?;
        let bytes = file.metadata()?.len();
        let unreadable = || format!("cannot read {}", path.display());
        if bytes <= WHOLE_BYTES {
            let mut content = Vec::new();
            file.read_to_end(&mut content).with_context(unreadable)?;
            self.put(name, content)?;
            return Ok(bytes);
        }
        let upload = self.wait(name, async { self.store.put_multipart(&self.object(name)).await })?;
        let mut writer = WriteMultipart::new_with_chunk_size(upload, CHUNK_BYTES);
        loop {
            let mut chunk = Vec::new();
            (&file).take(CHUNK_BYTES as u64).read_to_end(&mut chunk).with_context(unreadable)?;
            if chunk.is_empty() {
                break;
            }
            self.wait(name, async {
                writer.wait_for_capacity(PARTS_AT_ONCE).await?;
                writer.put(chunk.into());
                Ok(())
            })?;
        }
        self.wait(name, writer.finish())?;
        Ok(bytes)
    }

    /// Deletes an object, if it exists.
    ///
    /// # Errors
    /// When it cannot be deleted.
    pub fn delete(&self, name: &str) -> Result<(), StoreFailure> {
        match self.wait(name, async { self.store.delete(&self.object(name)).await }) {
            Err(StoreFailure::NotFound(_)) => Ok(()),
            other => other,
        }
    }
}

/// An error about settings: their values may be secrets, so only the kind is kept.
fn scrubbed(_: object_store::Error) -> anyhow::Error {
    anyhow::anyhow!("check the variables that begin with AWS_, GOOGLE_ or AZURE_")
}

/// The runtime that waits for responses, on the requesting thread.
fn runtime() -> Result<&'static Runtime, String> {
    static RUNTIME: OnceLock<Result<Runtime, String>> = OnceLock::new();
    let made =
        RUNTIME.get_or_init(|| Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string()));
    made.as_ref().map_err(Clone::clone)
}
