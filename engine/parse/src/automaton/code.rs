//! The choice bytes for the members of a class, made once.

use crate::machine::encode;
use crate::program::{NOT, Program};

/// At least the number of choice bytes of a member.
pub(super) const MOST: usize = 4;

/// For the bytes that are members by themselves, their choice bytes, the last one first.
#[derive(Clone, Debug)]
pub(super) struct Code {
    width: u8,
    /// Whether all bytes are members by themselves, not only those of ASCII.
    of_bytes: bool,
    bytes: Box<[[u8; MOST]; 256]>,
}

impl Code {
    /// The memory that the choice bytes take.
    pub const SIZE: usize = 256 * MOST;

    pub fn new(program: &Program, class: u32) -> Code {
        let class = &program.classes[class as usize];
        let site = &program.sites[class.site as usize];
        let of_bytes = class.places.is_some();
        let mut bytes = Box::new([[0; MOST]; 256]);
        let mut choices = Vec::new();
        for (byte, to) in (0..=255u8).zip(bytes.iter_mut()) {
            let place = match &class.places {
                Some(places) => Some(places[usize::from(byte)]).filter(|&place| place != NOT).map(u32::from),
                None => Some(u32::from(byte)).filter(|_| byte.is_ascii()).and_then(|member| class.place(member)),
            };
            if let Some(place) = place {
                choices.clear();
                encode(site, place, &mut choices);
                to[..choices.len()].copy_from_slice(&choices);
            }
        }
        Code { width: site.site().width() as u8, of_bytes, bytes }
    }

    /// Appends the choice bytes of a member that begins with this byte, if it is a member by itself.
    #[inline]
    pub fn append(&self, byte: u8, choices: &mut Vec<u8>) -> bool {
        let is_known = self.of_bytes || byte.is_ascii();
        if is_known {
            let end = choices.len() + usize::from(self.width);
            choices.extend_from_slice(&self.bytes[usize::from(byte)]);
            choices.truncate(end);
        }
        is_known
    }
}
