//! The files of a module, wherever they come from: the workspace, the binary, a fetched archive.

use crate::base::Problem;
use crate::data::library::ModuleDir;
use std::path::PathBuf;
use std::sync::Arc;

/// One module's folder. Paths are relative to it, with `/`.
pub trait Files: Send + Sync {
    /// The bytes of a file; `None` where there is no such file.
    fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Problem>;

    /// Every file below `folder`, as paths relative to the module, sorted by bytes.
    fn walk(&self, folder: &str) -> Result<Vec<String>, Problem>;

    /// The path as a person would type it.
    fn shown(&self, path: &str) -> PathBuf;

    /// Where the file lies on disk, for files that are streamed; `None` for those inside the binary.
    fn real_path(&self, path: &str) -> Option<PathBuf>;
}

/// Finds the folder of a stock module by name, for `load("@stock//…")`.
pub type Stock = Arc<dyn Fn(&str) -> Option<Arc<dyn Files>> + Send + Sync>;

impl Files for ModuleDir {
    fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Problem> {
        ModuleDir::read(self, path)
    }

    fn walk(&self, folder: &str) -> Result<Vec<String>, Problem> {
        ModuleDir::walk(self, folder)
    }

    fn shown(&self, path: &str) -> PathBuf {
        ModuleDir::shown(self, path)
    }

    fn real_path(&self, path: &str) -> Option<PathBuf> {
        ModuleDir::real_path(self, path)
    }
}
