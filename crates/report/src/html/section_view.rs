//! Sections, prepared for the templates.

use anyhow::Result;
use serde::Serialize;

use super::anchors::anchor;
use super::finding_view::{Piece, text};
use super::table_view::TableView;
use crate::document::{Block, Drawn, Section};
use wavesieve_engine::findings::QueryRequest;

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
    Chart(ChartView),
    Table(Box<TableView>),
    Note { is_warning: bool, text: Vec<Piece> },
}

#[derive(Serialize)]
struct ChartView {
    id: String,
    title: String,
    /// Elements that are drawn, escaped already.
    svg: String,
    notes: Vec<String>,
    command: String,
}

impl SectionView {
    /// A section.
    ///
    /// # Errors
    /// When a chart cannot be drawn.
    pub fn new(section: &Section) -> Result<Self> {
        let block = |block: &Block| {
            Ok(match block {
                Block::Chart(drawn) => BlockView::Chart(chart(drawn)?),
                Block::Table(table) => BlockView::Table(Box::new(TableView::of_table(table))),
                Block::Note(note) => BlockView::Note { is_warning: note.is_warning, text: text(&note.text) },
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

fn chart(drawn: &Drawn) -> Result<ChartView> {
    Ok(ChartView {
        id: anchor("chart", &drawn.id),
        title: drawn.chart.title.clone(),
        svg: drawn.chart.page()?,
        notes: drawn.chart.all_notes(),
        command: drawn.question.as_ref().map(QueryRequest::command_line).unwrap_or_default(),
    })
}
