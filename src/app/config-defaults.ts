/**
 * Every key and what holds when nobody sets it. Plain data, so that a start without configuration files loads neither
 * a schema library nor a YAML parser; the schemas take their defaults from here. A nested object is a section, an
 * empty one would be a key whose value is a map.
 */
export const defaultConfig = {
  schema_version: "1" as const,
  execution: {
    default_timeout_seconds: 300,
    max_output_kb: 1024,
    artifact_max_mb: 16,
    output_ceiling_mb: 16_384,
    use_shell: false,
    max_concurrent: 4,
    max_queued: 1000,
    kill_grace_seconds: 0.5,
    sandbox: "auto" as const,
    network: "none" as const,
    unix_sockets: "deny" as const,
    readable_paths: [],
    environment: {
      mode: "inherit" as const,
      exclude_patterns: ["*_TOKEN", "*_KEY", "*_SECRET", "*_PASSWORD"],
      include: ["PATH", "HOME", "TEMP", "TMP"],
    },
    audit: {
      enabled: true as const,
      retention_days: 90,
      include_output: true,
      max_output_bytes: 10_240,
    },
    redaction: { enabled: true as const, patterns: [] },
    limits: { memory_mb: null, processes: null, cpu_seconds: null, file_mb: null },
  },
  approvals: {
    file_read: "auto" as const,
    file_write: "prompt" as const,
    file_delete: "prompt" as const,
    directory_create: "auto" as const,
    terminal_commands: "prompt" as const,
    external_requests: "prompt" as const,
    non_interactive: "deny" as const,
    timeout_seconds: 300,
  },
  rules: [],
  executor: { allowed_commands: [], max_turns_per_step: 10, step_timeout_seconds: 120 },
  orchestration: {
    planner_timeout_seconds: 120,
    executor_timeout_seconds: null,
    verifier_timeout_seconds: 180,
    reviewer_timeout_seconds: 120,
    cycle_limit: 3,
    step_retry_limit: 3,
    stage_retry_limit: 2,
  },
  commands: { setup: null, build: null, test: null, lint: null, format: null, start: null },
  checkpoints: { max_file_mb: 64, max_total_mb: 2048, undo_days: 7 },
}
