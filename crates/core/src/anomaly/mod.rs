//! Anomalies.
