//! The models of the library by name, as they are shipped inside the crate.

/// Names and texts in alphabetical order.
pub const MODELS: [(&str, &str); 20] = [
    ("andrews", include_str!("../models/andrews.mbd")),
    ("argon", include_str!("../models/argon.mbd")),
    ("asymmetric_top", include_str!("../models/asymmetric_top.mbd")),
    ("bricard", include_str!("../models/bricard.mbd")),
    ("chain", include_str!("../models/chain.mbd")),
    ("closed_ring", include_str!("../models/closed_ring.mbd")),
    ("double_ball", include_str!("../models/double_ball.mbd")),
    ("double_pendulum", include_str!("../models/double_pendulum.mbd")),
    ("dumbbell", include_str!("../models/dumbbell.mbd")),
    ("dzhanibekov", include_str!("../models/dzhanibekov.mbd")),
    ("four_bar", include_str!("../models/four_bar.mbd")),
    ("four_bar_free", include_str!("../models/four_bar_free.mbd")),
    ("free_body", include_str!("../models/free_body.mbd")),
    ("heavy_top", include_str!("../models/heavy_top.mbd")),
    ("pendulum_3d", include_str!("../models/pendulum_3d.mbd")),
    ("rigid_water", include_str!("../models/rigid_water.mbd")),
    ("simple_pendulum", include_str!("../models/simple_pendulum.mbd")),
    ("single_pendulum", include_str!("../models/single_pendulum.mbd")),
    ("spring_network", include_str!("../models/spring_network.mbd")),
    ("torus_impact", include_str!("../models/torus_impact.mbd")),
];

/// The text of a model.
#[must_use]
pub fn find(name: &str) -> Option<&'static str> {
    MODELS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_listed() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models");
        let mut found: Vec<String> = std::fs::read_dir(folder)
            .expect("the folder exists")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".mbd").map(str::to_owned))
            .collect();
        found.sort();
        let listed: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
        assert_eq!(found, listed);
        assert!(find("chain").is_some() && find("chains").is_none());
    }
}
