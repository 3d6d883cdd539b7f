//! Names that are words of Rust, names of what generated code uses itself, and names that differ little.

use mbdsl_macros::mbd;

// Every word of Rust as a parameter; a model that is called as one.
mbd! {
    model Self {
        param type = 1 kg; param move = 1 kg; param loop = 1 kg; param self = 1 kg; param crate = 1 kg;
        param super = 1 kg; param Self = 1 kg; param async = 1 kg; param await = 1 kg; param dyn = 1 kg;
        param enum = 1 kg; param extern = 1 kg; param impl = 1 kg; param match = 1 kg; param mod = 1 kg;
        param mut = 1 kg; param pub = 1 kg; param ref = 1 kg; param return = 1 kg; param static = 1 kg;
        param struct = 1 kg; param trait = 1 kg; param unsafe = 1 kg; param while = 1 kg; param yield = 1 kg;
        param box = 1 kg; param abstract = 1 kg; param final = 1 kg; param macro = 1 kg; param override = 1 kg;
        param priv = 1 kg; param typeof = 1 kg; param unsized = 1 kg; param virtual = 1 kg;
        param become = 1 kg; param do = 1 kg; param gen = 1 kg; param union = 1 kg; param break = 1 kg;
        param continue = 1 kg; param else = 1 kg; param for = 1 kg; param if = 1 kg; param true = 1 kg;
        param false = 1 kg;
        let sum =
            type + move + loop + self + crate + super + Self + async + await + dyn + enum + extern + impl +
            match + mod + mut + pub + ref + return + static + struct + trait + unsafe + while + yield + box +
            abstract + final + macro + override + priv + typeof + unsized + virtual + become + do + gen +
            union + break + continue + else + for + if + true + false;
        particle p { mass = sum; }
        output total = sum;
    }
}

// Bodies, points, joints, forces, outputs and checks.
mbd! {
    model crate {
        param r#type = 1 [N/m]; // the mark of Rust is not needed, and allowed
        body match { mass = 1 kg; inertia = sphere(radius = 1 m); point trait = [0, 1, 0] m; }
        body self { mass = 1 kg; inertia = sphere(radius = 1 m); point super = [0, -1, 0] m; pos = [0, 2, 0] m; }
        particle loop[struct in 0..3] { mass = 1 kg; pos = [0, 0, struct + 1] * 1 m; }
        joint mod: spherical(match.trait, self.super);
        constraint dyn[impl in 0..3]: loop[impl].pos.z == (impl + 1) * 1 m;
        potential async: 0.5 * type * norm2(self.pos - loop[0].pos);
        force extern: spring(match.trait, loop[1], k = type, rest = 1 m);
        output move = match.pos.x;
        output ref[try in 0..2] = self.pos.y + try * 1 m;
        output return = mod.reaction;
        output static = energy;
        check unsafe: type > 0;
    }
}

// What generated code says itself: crates, types, modules, fields, methods and variables.
mbd! {
    model Option {
        param params = 1 kg;
        param scalars = 1 kg;
        param at = 1 [N/m];
        param k = 2 [N/m];
        param f64 = 3 [N/m];
        param t = 1 m;
        body rt { mass = params; inertia = sphere(radius = t); }
        body core { mass = scalars; inertia = sphere(radius = t); pos = [1, 0, 0] m; }
        particle std { mass = 1 kg; pos = [2, 0, 0] m; }
        particle base { mass = 1 kg; pos = [3, 0, 0] m; }
        particle params_ { mass = 1 kg; pos = [4, 0, 0] m; }
        particle f64_ { mass = 1 kg; pos = [5, 0, 0] m; }
        particle usize { mass = 1 kg; pos = [6, 0, 0] m; }
        particle u32 { mass = 1 kg; pos = [7, 0, 0] m; }
        particle bool[i in 0..2] { mass = 1 kg; pos = [8 + i, 0, 0] * 1 m; }
        particle str[j in 0..2] { mass = 1 kg; pos = [10 + j, 0, 0] * 1 m; }
        particle memory { mass = 1 kg; pos = [12, 0, 0] m; }
        joint lambda: revolute(ground.origin, rt.origin, axis = [0, 0, 1]);
        force s: spring(core.origin, std, k = at + k + f64, rest = t);
        force energy_[i in 0..2]: spring(bool[i], str[i], k = k, rest = t);
        output new = rt.pos.x;
        output guess = lambda.angle;
        output topology = std.pos;
        output assemble = sum(i in 0..2, bool[i].pos.x);
        output clone = max(i in 0..2, str[i].pos.x);
        check plan: t > 0;
    }
}
mbd! { model Result { particle Data { mass = 1 kg; } } }
mbd! { model Default { param Default = 1 kg; particle Params { mass = Default; } } }
mbd! { model Params { particle Some { mass = 1 kg; } } }
mbd! { model Data { particle Vec { mass = 1 kg; } particle String { mass = 1 kg; pos = [1, 0, 0] m; } } }
mbd! { model Vec { particle vec { mass = 1 kg; } } }
mbd! { model Clone { particle Clone { mass = 1 kg; } } }
mbd! { model f64 { particle f64 { mass = 1 kg; } } }

// Names that are the same in the spelling of Rust, or nothing.
mbd! {
    model __ {
        param l = 1 m;
        param L = 2 m;
        param type_ = 1 kg;
        param type = 2 kg;
        particle topLink { mass = type; pos = [l, L, 0]; }
        particle top_link { mass = type_; pos = [L, l, 0]; }
        particle TopLink { mass = type_; pos = [L, 2 * L, 0]; }
        particle _3d { mass = type_; pos = [L, 3 * L, 0]; }
        output topLinkX = topLink.pos.x;
        output top_link_x = top_link.pos.x;
    }
}

fn main() {
    let words = self_::Params { type_: 3.0, ..self_::Params::default() }.with_self(2.0);
    let model = self_::Self_::new(words).unwrap();
    assert_eq!(model.total(model.guess()), 48.0);

    let mut model = crate_::Crate::new(crate_::Params::default().with_type(2.0)).unwrap();
    let (state, _) = model.assemble().unwrap();
    assert_eq!(model.move_(&state), model.match_(&state).pos.x);
    assert_eq!(model.ref_(1, &state), model.self_(&state).pos.y + 1.0);
    assert_eq!(model.return_(&state, &[1.0; 6]), model.mod_(&[-1.0; 6]).map(|x| -x).map(|x| -x));
    assert_eq!(model.loop_(&state, 2).pos.z, 3.0);

    let mut model = option::Option_::new(option::Params::default()).unwrap();
    let (state, _) = model.assemble().unwrap();
    assert_eq!(model.new_(&state), 0.0);
    assert_eq!(model.topology_(&state), [2.0, 0.0, 0.0]);
    assert_eq!((model.assemble_(&state), model.clone_(&state)), (17.0, 11.0));

    let both = unnamed::Params::default().with_l(5.0).with_l_(6.0);
    assert_eq!((both.l, both.L, both.type_, both.type__), (5.0, 6.0, 1.0, 2.0));
    let model = unnamed::Unnamed::new(both).unwrap();
    assert_eq!((model.top_link_x(model.guess()), model.top_link_x_(model.guess())), (5.0, 6.0));
    assert_eq!(model._3d(model.guess()).pos.y, 18.0);
}
