//! Runs the real binary on the fixtures and, where present, on real traces.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod ask;
mod cache;
mod charts;
mod common;
mod compare;
mod conversations;
mod copies;
mod copy_rates;
mod counter_subsets;
mod damaged_inputs;
mod damaged_pages;
mod databases;
mod dataset;
mod device_code;
mod dialects;
mod digits;
mod document_places;
mod documentation;
mod efficiency;
mod embedding;
mod examples;
mod facts;
mod fake_hsa;
mod features;
mod filters;
mod findings;
mod following_kernels;
mod gates;
mod goldens;
mod groupings;
mod hardware;
mod html_pages;
mod idling;
mod lab_autotune;
mod lab_capture;
mod lab_code;
mod lab_optimize;
mod lab_profile;
mod lab_replay;
mod launches;
mod left_over;
mod library;
mod manners;
mod matrix_products;
mod mcp;
mod messages;
mod metrics;
mod models;
mod negative;
mod object_server;
mod oddities;
mod outputs;
mod pages;
mod paths;
mod perfetto;
mod plan;
mod planted;
mod profiler;
mod promises;
mod quality;
mod queries;
mod ranges;
mod ranks;
mod readers;
mod report;
mod resume;
mod rocinsight;
mod rocpd_names;
mod rocprof_compute;
mod rocprofv3_csv;
mod rocprofv3_documents;
mod rocprofv3_json;
mod rpd;
mod rpd_agreement;
mod scan;
mod secrets;
mod sending;
mod sessions;
mod settings;
mod shards;
mod sql;
mod sql_results;
mod steady;
mod stores;
mod strange_traces;
mod tables;
mod telemetry;
mod thread_traces;
mod tiers;
mod tls;
mod truth;
mod two_sources;
mod unknown_and_shared;
mod vacuity;
mod verbs;
mod viewers;
mod workbooks;
mod workflow;
