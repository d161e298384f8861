//! A port of what orders memory in `libtakt/memory`, to be checked with loom under the memory model
//! of C++: `ring.cpp` in [`ring`], and the slots of `sender.cpp` and `pool.cpp` in [`store`].
//!
//! Functions, fields and the order of accesses are those of the C++, so that both can be compared
//! line by line; `tests/python/test_share_model.py` does. What is left out orders nothing: how two
//! processes meet, the middleware's numbers, and five of the seven fields of a message, which are
//! written and read like the other two.

pub mod parts;
pub mod ring;
pub mod store;
