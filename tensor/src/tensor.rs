//! Values of tensors.

use smalti_codegen::Elem;

/// A tensor in row-major order, little-endian.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    /// Its elements' type.
    pub elem: Elem,
    /// Its dims.
    pub shape: Vec<usize>,
    /// Its elements.
    pub bytes: Vec<u8>,
}

macro_rules! constructors {
    ($($name:ident, $rust:ty, $elem:ident;)*) => {$(
        #[doc = concat!("A tensor of ", stringify!($rust), ".")]
        ///
        /// # Panics
        /// Where the number of values is not that of the shape.
        pub fn $name(shape: impl Into<Vec<usize>>, values: &[$rust]) -> Tensor {
            let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            Tensor::new(Elem::$elem, shape, bytes)
        }
    )*};
}

impl Tensor {
    /// A tensor of these bytes.
    ///
    /// # Panics
    /// Where their number is not that of the shape.
    pub fn new(elem: Elem, shape: impl Into<Vec<usize>>, bytes: Vec<u8>) -> Tensor {
        let shape = shape.into();
        assert_eq!(bytes.len(), shape.iter().product::<usize>() * elem.size(), "bytes of {elem}{shape:?}");
        Tensor { elem, shape, bytes }
    }

    constructors! {
        f32, f32, F32;
        f64, f64, F64;
        i64, i64, I64;
        i32, i32, I32;
    }

    /// A tensor of zeros.
    pub fn zeros(elem: Elem, shape: impl Into<Vec<usize>>) -> Tensor {
        let shape = shape.into();
        let bytes = vec![0; shape.iter().product::<usize>() * elem.size()];
        Tensor { elem, shape, bytes }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of element `i`.
    pub fn at(&self, i: usize) -> &[u8] {
        let size = self.elem.size();
        &self.bytes[i * size..(i + 1) * size]
    }

    /// Element `i` as f64; integers beyond 2⁵³ are rounded.
    pub fn get(&self, i: usize) -> f64 {
        let b = self.at(i);
        match self.elem {
            Elem::F64 => f64::from_le_bytes(b.try_into().expect("eight bytes")),
            Elem::F32 => f32::from_le_bytes(b.try_into().expect("four bytes")).into(),
            Elem::F16 => half::f16::from_le_bytes(b.try_into().expect("two bytes")).to_f64(),
            Elem::Bf16 => half::bf16::from_le_bytes(b.try_into().expect("two bytes")).to_f64(),
            _ => self.int(i) as f64,
        }
    }

    /// Element `i` of an integer or bool tensor; u64 beyond the range wraps.
    pub fn int(&self, i: usize) -> i64 {
        let b = self.at(i);
        let mut word = [0; 8];
        word[..b.len()].copy_from_slice(b);
        let shift = 64 - 8 * b.len() as u32;
        let raw = i64::from_le_bytes(word) << shift;
        if self.elem.is_signed() { raw >> shift } else { ((raw as u64) >> shift) as i64 }
    }

    /// All elements of an integer tensor.
    pub fn ints(&self) -> Vec<i64> {
        (0..self.len()).map(|i| self.int(i)).collect()
    }

    /// Sets element `i` of a float tensor, rounding once.
    pub fn set(&mut self, i: usize, value: f64) {
        let size = self.elem.size();
        let place = &mut self.bytes[i * size..(i + 1) * size];
        match self.elem {
            Elem::F64 => place.copy_from_slice(&value.to_le_bytes()),
            Elem::F32 => place.copy_from_slice(&(value as f32).to_le_bytes()),
            Elem::F16 => place.copy_from_slice(&half::f16::from_f64(value).to_le_bytes()),
            Elem::Bf16 => place.copy_from_slice(&half::bf16::from_f64(value).to_le_bytes()),
            _ => place.copy_from_slice(&(value as i64).to_le_bytes()[..size]),
        }
    }

    /// Floats as f64, the rest as it is: what the exact interpreter computes with.
    #[must_use]
    pub fn promoted(&self) -> Tensor {
        if !self.elem.is_float() || self.elem == Elem::F64 {
            return self.clone();
        }
        let values: Vec<f64> = (0..self.len()).map(|i| self.get(i)).collect();
        Tensor::f64(self.shape.clone(), &values)
    }

    /// Row-major strides, in elements.
    pub fn strides(shape: &[usize]) -> Vec<usize> {
        let mut strides = vec![1; shape.len()];
        for d in (1..shape.len()).rev() {
            strides[d - 1] = strides[d] * shape[d];
        }
        strides
    }
}
