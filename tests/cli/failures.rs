//! Exit codes: 1 for models and checks, 2 for usage and files, 3 for steps; and that nothing makes the command panic.

use std::process::Stdio;

use crate::{BEYOND_REACH, Desk, FALLING, SINGULAR, library};

#[test]
fn a_good_run_is_zero_and_quiet() {
    let ran = Desk::with(FALLING).mbd(&["run", "model.mbd"]).expect(0);
    assert!(ran.out.contains("Falling, dae1l_lse, jit") && ran.out.contains("1 good"), "{}", ran.out);
    assert_eq!(ran.err, "");
}

#[test]
fn a_wrong_model_is_one_and_all_its_errors_are_shown() {
    let desk = Desk::with("model A {\n    param x = 3 m + 2 kg;\n    particle p { mass = 1; pos = [0, 0, 0] m; }\n}\n");
    let ran =
        desk.mbd(&["run", "model.mbd"]).expect(1).says(&["model.mbd:2:15", "MBD0061", "model.mbd:3:25", "MBD0062"]);
    assert_eq!(ran.out, "");
}

#[test]
fn a_failed_check_is_one_and_the_summary_is_still_printed() {
    let text = FALLING
        .replace("check straight", "/// it may not fall\n    check stays: p.pos.z > -0.12 mm;\n    check straight");
    let desk = Desk::with(&text);
    let ran = desk.mbd(&["run", "model.mbd", "--summary", "json"]).expect(1);
    let ran = ran.says(&["MBD0181", "check `stays` fails at t = 0.005 s", "it may not fall", "model.mbd:7"]);
    assert_eq!(ran.json()["steps"], 10);
    desk.mbd(&["compare", "model.mbd"]).expect(0);
}

#[test]
fn what_cannot_be_assembled_is_one() {
    let text = BEYOND_REACH.replace("0.9 m + ", "1.5 m + ");
    Desk::with(&text).mbd(&["run", "model.mbd"]).expect(1).says(&["MBD0170", "stays open", "mm"]);
}

#[test]
fn redundancy_is_one_where_it_is_denied() {
    let text = std::fs::read_to_string(library("four_bar.mbd")).expect("the model is there");
    let desk = Desk::with(&text.replace("redundancy = report", "redundancy = deny"));
    desk.mbd(&["run", "model.mbd"]).expect(1).says(&["MBD0173", "3 of 21 equations are redundant"]);
}

#[test]
fn usage_and_files_are_two() {
    let desk = Desk::with(FALLING);
    for args in [
        &["run", "absent.mbd"][..],
        &["run", "."],
        &["check", "model.mbd", "absent.mbd"],
        &["test", "absent"],
        &["run"],
        &["frobnicate"],
        &["run", "model.mbd", "--frobnicate"],
        &["run", "model.mbd", "--stepper", "rk4"],
        &["run", "model.mbd", "--step", "0"],
        &["run", "model.mbd", "--step=-1us"],
        &["run", "model.mbd", "--step", "1kg"],
        &["run", "model.mbd", "--until", "soon"],
        &["run", "model.mbd", "--every", "0"],
        &["run", "model.mbd", "--out", "rows.parquet"],
        &["run", "model.mbd", "--out", "absent/rows.csv"],
        &["run", "model.mbd", "--plot", "model.mbd"],
        &["run", "model.mbd", "--set", "m"],
        &["run", "model.mbd", "--set", "=5"],
        &["compare", "model.mbd", "--steppers", "dae1l_lse,rk4"],
        &["new", "3rd"],
        &["new", "model"],
        &["new", ""],
    ] {
        let ran = desk.mbd(args).expect(2);
        assert!(!ran.err.is_empty(), "{args:?} says nothing");
    }
}

#[test]
fn a_failed_step_is_three_and_says_where() {
    let ran = Desk::with(SINGULAR).mbd(&["run", "model.mbd"]).expect(3);
    let ran = ran.says(&["MBD0180", "dae1l_lse failed", "step of 1e-2 s", "up to the last good step are complete"]);
    assert!(ran.out.contains("ms of 10 s"), "{}", ran.out);
    let ran = Desk::with(BEYOND_REACH).mbd(&["run", "model.mbd", "--summary", "json"]).expect(3);
    let reached = ran.says(&["`pull", "`rod", "help: "]).json()["final"]["time"].as_f64().expect("a time");
    assert!((0.09..0.1).contains(&reached), "{reached}");
    Desk::with(SINGULAR).mbd(&["compare", "model.mbd", "--steppers", "dae3l_le"]).expect(3);
    Desk::with(SINGULAR).mbd(&["test", "model.mbd"]).expect(3);
}

/// What failed is the turn of a body: its place is shown, and no residuals of joints that hold.
#[test]
fn a_body_that_turns_too_far_is_shown_without_residuals() {
    let file = library("heavy_top.mbd");
    let ran = Desk::new().mbd(&["run", &file, "--step", "50ms", "--stepper", "dopri5"]).expect(3);
    let ran = ran.says(&["`top` turns too far in one step", "body top {", "help: try a smaller step"]);
    assert!(!ran.err.contains("residual"), "{}", ran.err);
}

#[test]
fn an_unknown_stepper_lists_those_that_exist() {
    let desk = Desk::with(FALLING);
    let all = ["dae3l_le", "dae2l_le", "dae2l_lse", "dae1l_lse", "dae3h_le", "dae2h_le", "dae2h_lse", "dae1h_lse"];
    desk.mbd(&["run", "model.mbd", "--stepper", "rk4"]).expect(2).says(&all);
    let desk = Desk::with(&FALLING.replace("= dae1l_lse", "= rk4"));
    desk.mbd(&["run", "model.mbd"]).expect(1).says(&["MBD0174", "rk4"]).says(&all);
    desk.mbd(&["check", "model.mbd"]).expect(1).says(&["MBD0174", "rk4"]).says(&all);
}

/// On the command line as in the model: what was probably meant, and where compositions may stand.
#[test]
fn wrong_names_of_steppers_say_what_is_right() {
    for (name, words) in [
        (
            "splitting_dml",
            &["no stepper is called `splitting_dml`", "did you mean `splitting_dlm`?", "+sofroniou_spaletta6"][..],
        ),
        ("splitting_dml+suzuki4", &["did you mean `splitting_dlm+suzuki4`?"]),
        ("splitting_dlm+suzuky4", &["no composition is called `+suzuky4`", "did you mean `splitting_dlm+suzuki4`?"]),
        (
            "+sofroniou_spaletta6",
            &["`+sofroniou_spaletta6` needs a stepper before it", "`splitting_dlm+sofroniou_spaletta6`"],
        ),
        ("dae1l_lse+yoshida4", &["`dae1l_lse` takes no composition", "those that take one are splitting_dlm, "]),
        ("splitting_dlm+suzuki4+suzuki4", &["`splitting_dlm+suzuki4` is a composition already"]),
        ("generalised_alpha", &["did you mean `generalized_alpha`?"]),
        (
            "generalized_alpha(rho = 1.5)",
            &["takes one parameter, `rho`, a number from 0 to 1, and not `rho", "write `generalized_alpha(rho = 0.5)`"],
        ),
        ("dop853(rho = 0.5)", &["`dop853` has no parameters"]),
    ] {
        let desk = Desk::with(FALLING);
        desk.mbd(&["run", "model.mbd", "--stepper", name]).expect(2).says(words);
        desk.mbd(&["compare", "model.mbd", "--steppers", name]).expect(2).says(words);
        // A sign alone is no expression, which is said before.
        if !name.starts_with('+') {
            let desk = Desk::with(&FALLING.replace("= dae1l_lse", &format!("= {name}")));
            desk.mbd(&["check", "model.mbd"]).expect(1).says(&["MBD0174", "stepper = "]).says(words);
        }
    }
    let desk = Desk::with(FALLING);
    let ran = desk.mbd(&["run", "model.mbd", "--stepper", " splitting_dlm + suzuki4"]).expect(0);
    assert!(ran.out.contains("Falling, splitting_dlm+suzuki4, jit"), "{}", ran.out);
    let desk = Desk::with(&FALLING.replace("= dae1l_lse", "= generalized_alpha(rho = 0.5)"));
    let ran = desk.mbd(&["run", "model.mbd", "--summary", "json"]).expect(0);
    assert_eq!(ran.json()["stepper"], "generalized_alpha(rho = 0.5)");
    let ran = desk.mbd(&["run", "model.mbd", "--stepper", "generalized_alpha(rho = 0.8)"]).expect(0);
    assert!(ran.out.contains("Falling, generalized_alpha, jit"), "{}", ran.out);
}

#[test]
fn what_a_run_needs_and_nobody_gives_is_named() {
    let text = "model M { particle p { mass = 1 kg; pos = [0, 0, 0] m; } }";
    let desk = Desk::with(text);
    desk.mbd(&["run", "model.mbd"]).expect(2).says(&["no until", "--until 1 s"]);
    desk.mbd(&["run", "model.mbd", "--stepper", "dae2l_le"]).expect(2).says(&["no step", "--step 1 ms"]);
    desk.mbd(&["run", "model.mbd", "--step", "1ms", "--until", "5ms", "--stepper", "dae2l_le"]).expect(0);
}

#[test]
fn odd_files_give_messages() {
    let desk = Desk::new();
    desk.write("empty.mbd", b"");
    desk.write("junk.mbd", &[0x7f, b'E', b'L', b'F', 0, 0xff, 0xfe, b'\n', 0x80, 0, b'{', b'['].repeat(200));
    desk.write("long.mbd", format!("model M {{ param x = {}1{}; }}", "(".repeat(5000), ")".repeat(5000)).as_bytes());
    desk.write("sum.mbd", format!("model M {{ param x = 1{}; }}", " + 1".repeat(20_000)).as_bytes());
    desk.write("crlf.mbd", FALLING.replace('\n', "\r\n").as_bytes());
    desk.mbd(&["check", "empty.mbd"]).expect(1).says(&["MBD0050", "model Name"]);
    desk.mbd(&["check", "junk.mbd"]).expect(1).says(&["MBD0001"]);
    desk.mbd(&["check", "long.mbd"]).expect(1);
    desk.mbd(&["check", "sum.mbd"]).expect(1).says(&["MBD00"]);
    desk.mbd(&["check", "crlf.mbd"]).expect(0);
}

#[test]
fn several_models_need_a_choice() {
    let second = FALLING.replace("Falling", "Second");
    let desk = Desk::with(&format!("{FALLING}{second}"));
    desk.mbd(&["run", "model.mbd"]).expect(1).says(&["--model"]);
    desk.mbd(&["run", "model.mbd", "--model", "Third"]).expect(1).says(&["Third", "Second"]);
    let ran = desk.mbd(&["run", "model.mbd", "--model", "Second"]).expect(0);
    assert!(ran.out.starts_with("Second, "), "{}", ran.out);
}

#[test]
fn check_goes_on_after_a_bad_file() {
    let desk = Desk::with(FALLING);
    desk.write("bad.mbd", b"model Bad {");
    let ran = desk.mbd(&["check", "bad.mbd", "model.mbd"]).expect(1).says(&["bad.mbd", "never closed"]);
    assert_eq!(ran.out, "model.mbd: Falling is good: 1 body, 0 constraint equations\n");
}

#[test]
fn messages_come_as_json_too() {
    let desk = Desk::with("model A {\n    param x = 3 m + 2 kg;\n    particle p { mass = 1; pos = [0, 0, 0] m; }\n}\n");
    for command in ["check", "run", "test"] {
        let ran = desk.mbd(&[command, "model.mbd", "--message-format", "json"]).expect(1);
        let lines: Vec<serde_json::Value> =
            ran.err.lines().map(|line| serde_json::from_str(line).expect("one object a line")).collect();
        let codes: Vec<&str> = lines.iter().filter_map(|l| l["code"].as_str()).collect();
        assert_eq!(codes, ["MBD0061", "MBD0062"], "{command}");
        assert_eq!(
            (&lines[0]["file"], &lines[0]["line"], &lines[0]["column"]),
            (&"model.mbd".into(), &2.into(), &15.into())
        );
        assert_eq!(lines[0]["severity"], "error");
    }
}

#[test]
fn tests_tell_which_check_of_which_model_failed() {
    let desk = Desk::new();
    desk.write("set/good.mbd", FALLING.as_bytes());
    desk.write("set/more/bad.mbd", FALLING.replace("p.pos.y", "p.pos.x").as_bytes());
    desk.write("set/std/ignored.mbd", b"not a model");
    desk.write("set/notes.txt", b"not a model either");
    let ran = desk.mbd(&["test", "set"]).expect(1).says(&["check `straight` fails", "bad.mbd"]);
    assert!(ran.out.contains("good.mbd: 1 check good") && ran.out.contains("bad.mbd: failed"), "{}", ran.out);
    assert!(ran.out.ends_with("1 of 2 models good\n"), "{}", ran.out);
    desk.mbd(&["test", "set/good.mbd"]).expect(0);
    desk.write("none/notes.txt", b"");
    desk.mbd(&["test", "none"]).expect(2).says(&["no `.mbd` files"]);
}

#[test]
fn readers_that_go_away_are_no_bug() {
    let desk = Desk::with(FALLING);
    desk.write("bad.mbd", b"model Bad {");
    for (args, code) in [
        (&["run", "model.mbd", "--summary", "json"][..], 0),
        (&["compare", "model.mbd"], 0),
        (&["check", "bad.mbd"], 1),
        (&["run", "absent.mbd"], 2),
        (&["--help"], 0),
    ] {
        let mut child =
            desk.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("mbd can be started");
        drop(child.stdout.take());
        drop(child.stderr.take());
        assert_eq!(child.wait().expect("mbd ends").code(), Some(code), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let desk = Desk::with(FALLING);
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
    let output = desk.command(&["run", "model.mbd"]).stdout(full()).output().expect("mbd can be started");
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn help_tells_the_exit_codes() {
    let ran = Desk::new().mbd(&["--help"]).expect(0);
    assert!(ran.out.contains("Exit codes: 0 good, 1 "), "{}", ran.out);
    assert!(Desk::new().mbd(&["--version"]).expect(0).out.starts_with("mbd "));
}
