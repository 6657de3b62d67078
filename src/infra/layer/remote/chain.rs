//! The layers that a thread builds, one because of the other.

use crate::infra::layer::Layer;
use std::path::Path;

/// From the layer that is rendered to the one whose template asks.
#[derive(Clone, Debug)]
pub struct Chain(Vec<Layer>);

impl Chain {
    pub fn new(layer: &Layer) -> Chain {
        Chain(vec![layer.clone()])
    }

    /// The chain with one more layer at its end.
    pub fn with(&self, layer: &Layer) -> Chain {
        Chain(self.0.iter().chain([layer]).cloned().collect())
    }

    /// The folder of the layer that asks, where it is built for its state. The first of the chain is rendered for itself,
    /// and nobody waits for that.
    pub fn held(&self) -> Option<&Path> {
        self.0.get(1..)?.last().map(|layer| layer.path.as_path())
    }

    /// The cycle that `layer` would close: labels from it and back to it. It begins with the smallest, whoever finds it.
    pub fn closed_by(&self, layer: &Layer) -> Option<Vec<String>> {
        let from = self.0.iter().position(|known| known.path == layer.path)?;
        let mut labels: Vec<String> = self.0.iter().skip(from).map(Layer::label).collect();
        let least = labels.iter().enumerate().min_by_key(|(_, label)| *label).map_or(0, |(at, _)| at);
        labels.rotate_left(least);
        labels.extend(labels.first().cloned());
        Some(labels)
    }
}
