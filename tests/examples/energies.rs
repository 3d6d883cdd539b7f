//! Energies of a double pendulum as a CSV file and as a picture.

use std::error::Error;
use std::path::Path;

use mbdsl_macros::mbd;
use mbdsl_runtime::prelude::*;
use plotters::prelude::*;

mbd!(<double_pendulum>);

/// Time, s, kinetic and potential energy, J.
pub type Row = (f64, f64, f64);

/// One of the energies of a row.
type Energy = fn(&Row) -> f64;

/// A run of a second, a row every millisecond; `energies.csv` and `energies.svg` in a folder.
pub fn run(folder: &Path) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut model = double_pendulum::DoublePendulum::new(double_pendulum::Params::default())?;
    let (mut state, _) = model.assemble()?;
    let mut stepper = model.stepper()?;
    let plan = Plan::new(1e-4, 1.0).ok_or("steps of 0.1 ms for a second")?;
    let mut monitor = Monitor::new(model.topology());
    let mut rows = Vec::new();
    let (_, result) = simulate(&mut model, &mut stepper, &mut state, &plan, |n, model, state, stepper| {
        if n % 10 == 0 {
            let measures = monitor.measure(model, state, stepper.acceleration());
            rows.push((state.t, measures.kinetic, measures.potential));
        }
        ControlFlow::Continue(())
    });
    result?;
    write_csv(&folder.join("energies.csv"), &rows)?;
    draw(&folder.join("energies.svg"), &rows)?;
    Ok(rows)
}

fn write_csv(path: &Path, rows: &[Row]) -> Result<(), Box<dyn Error>> {
    let mut file = csv::Writer::from_path(path)?;
    file.write_record(["time", "kinetic", "potential"])?;
    for row in rows {
        file.serialize(row)?;
    }
    Ok(file.flush()?)
}

fn draw(path: &Path, rows: &[Row]) -> Result<(), Box<dyn Error>> {
    let end = rows.last().map_or(1.0, |row| row.0);
    let highest = rows.iter().map(|row| row.1 + row.2).fold(0.0, f64::max);
    let lowest = rows.iter().map(|row| row.2).fold(0.0, f64::min);
    let area = SVGBackend::new(path, (800, 400)).into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..end, 1.1 * lowest..1.1 * highest)?;
    chart.configure_mesh().x_desc("time, s").y_desc("energy, J").draw()?;
    let curves: [(&str, RGBColor, Energy); 3] =
        [("kinetic", RED, |row| row.1), ("potential", BLUE, |row| row.2), ("total", BLACK, |row| row.1 + row.2)];
    for (name, colour, energy) in curves {
        chart
            .draw_series(LineSeries::new(rows.iter().map(|row| (row.0, energy(row))), colour))?
            .label(name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour));
    }
    chart.configure_series_labels().border_style(BLACK).draw()?;
    Ok(area.present()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".to_owned());
    let rows = run(Path::new(&folder))?;
    let total = |row: Option<&Row>| row.map_or(0.0, |row| row.1 + row.2);
    println!("total energy: {:.2} J, after a second {:.2} J", total(rows.first()), total(rows.last()));
    Ok(())
}
