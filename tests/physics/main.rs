//! The physics of compiled models: published tables and states, orders of accuracy, laws, redundant equations, refused
//! starts, failed steps, and the cost of compiling. Models come from `models/` or stand beside their test; numbers
//! without a closed form come from `data/`, whose `SOURCE.md` tells where each file is from.

mod adaptive;
mod adaptive_radau;
mod andrews;
mod balance;
mod carried;
mod cases;
mod contradictions;
mod cost;
mod data;
mod every_stepper;
mod explicit;
mod frames;
mod generalized_alpha;
mod implicit;
mod joints;
mod laws;
mod order;
mod pairs;
mod projection;
mod redundancy;
mod rig;
mod splitting;
mod starts;
mod states;
mod tables;
mod threads;
mod torus;
mod unrolled;
