//! Sections, prepared for the templates.

use anyhow::Result;
use serde::Serialize;

use super::anchors::anchor;
use super::finding_view::{NoteView, Piece, text};
use super::table_view::TableView;
use crate::charts::Chart;
use crate::document::{Block, Drawn, Section};
use wavesieve_model::analysis::kernel_names::ReadableNames;

#[derive(Serialize)]
pub(crate) struct SectionView {
    id: String,
    title: String,
    about: Vec<Piece>,
    blocks: Vec<BlockView>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum BlockView {
    Chart(DrawnView),
    Table(Box<TableView>),
    Note(NoteView),
}

/// A chart of a page.
#[derive(Serialize)]
pub(crate) struct ChartView {
    title: String,
    /// Drawn elements, already escaped.
    svg: String,
    notes: Vec<String>,
}

impl ChartView {
    pub fn new(chart: &Chart) -> Result<Self> {
        Ok(Self { title: chart.title.clone(), svg: chart.page()?, notes: chart.all_notes() })
    }
}

#[derive(Serialize)]
struct DrawnView {
    id: String,
    #[serde(flatten)]
    chart: ChartView,
    command: String,
}

impl SectionView {
    /// A section.
    pub fn new(section: &Section, names: &ReadableNames) -> Result<Self> {
        let block = |block: &Block| {
            Ok(match block {
                Block::Chart(drawn) => BlockView::Chart(chart(drawn)?),
                Block::Table(table) => BlockView::Table(Box::new(TableView::of_table(table, names))),
                Block::Note(note) => BlockView::Note(NoteView::new(note)),
            })
        };
        Ok(Self {
            id: section.id.clone(),
            title: section.title.clone(),
            about: text(&section.about),
            blocks: section.blocks.iter().map(block).collect::<Result<_>>()?,
        })
    }

    pub fn tables(&self) -> impl Iterator<Item = &TableView> {
        self.blocks.iter().filter_map(|block| match block {
            BlockView::Table(table) => Some(&**table),
            _ => None,
        })
    }
}

fn chart(drawn: &Drawn) -> Result<DrawnView> {
    Ok(DrawnView {
        id: anchor("chart", &drawn.id),
        chart: ChartView::new(&drawn.chart)?,
        command: drawn.command.clone().unwrap_or_default(),
    })
}
