//! A list of random numbers read as choices, so that a failing model shrinks with its list.

/// Choices in order; where the list ends, every further choice is the first one.
pub struct Tape<'a> {
    choices: &'a [u16],
    at: usize,
}

impl<'a> Tape<'a> {
    pub fn new(choices: &'a [u16]) -> Self {
        Self { choices, at: 0 }
    }

    fn next(&mut self) -> u16 {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        choice
    }

    /// A number below `n`; 0 where the list has ended.
    pub fn below(&mut self, n: usize) -> usize {
        (usize::from(self.next()) * n) >> 16
    }

    /// True in about `percent` of a hundred cases; false where the list has ended.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) >= 100 - percent
    }

    /// One of some things.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A literal between 0.2 and 1.2.
    pub fn positive(&mut self) -> String {
        format!("{:.3}", 0.2 + f64::from(self.next()) / 65536.0)
    }

    /// A literal of either sign, away from zero.
    pub fn literal(&mut self) -> String {
        let sign = if self.chance(50) { "-" } else { "" };
        format!("{sign}{}", self.positive())
    }

    /// Three of them in brackets.
    pub fn literals(&mut self) -> String {
        format!("[{}, {}, {}]", self.literal(), self.literal(), self.literal())
    }

    /// A seed for numbers that are no choices.
    pub fn seed(&mut self) -> u64 {
        (0..4).fold(0, |seed, _| seed << 16 | u64::from(self.next()))
    }
}

/// Numbers between -1 and 1, always the same for the same seed.
pub struct Noise(pub u64);

impl Noise {
    pub fn next(&mut self) -> f64 {
        // Odd multiplier and increment of the 64-bit generator of Knuth; the upper bits are good.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) * 0.5 * n as f64) as usize
    }

    pub fn list(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.next()).collect()
    }
}
