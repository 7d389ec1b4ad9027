//! What a user adds to the catalogue.

/// Entries of `coldstart.yaml` under `catalogue`.
#[derive(Clone, Debug, Default)]
pub struct Additions {
    /// `additions`: components.
    pub components: Vec<catalogue::Component>,
    /// `providers`: of Terraform.
    pub providers: Vec<catalogue::Provider>,
}

impl Additions {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.components.is_empty() && self.providers.is_empty()
    }
}
