//! The `mbd!` macro of mbdsl.
