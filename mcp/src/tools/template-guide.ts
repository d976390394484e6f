/** A complete `template.yaml`; a test parses it with the platform's own parser. */
export const templateExample = `name: report-writer              # lowercase letters, digits, "-" and "_"
display_name: Report writer
description: Writes the weekly report from the numbers in data/.
version: "1.0"
type: business-assistant
runtime:
  type: claude-code              # claude-code, gemini-cli or codex
  model: sonnet                  # optional
resources:
  cpu: "2"                       # "1", "2", "4", "8" or "16", as text
  memory: 4g                     # 1g to 32g
credentials:                     # names only, never values
  env_file: [CRM_TOKEN]          # variables of .env
  mcp_servers:                   # variables of the servers in .mcp.json.template
    search:
      env_vars: [SEARCH_KEY]
  config_files: [credentials/crm.pem]
credential_setup:                # optional; describes names declared above
  - name: CRM_TOKEN
    title: CRM token
    description: Read access to the CRM
    setup_url: https://crm.example.com/tokens
schedules:                       # at most 20
  - name: Monday report
    cron: "0 9 * * MON"          # minute hour day-of-month month day-of-week
    timezone: Europe/Berlin
    message: Write this week's report.
skills: [weekly-report]          # assigned if the library has them
tags: [reports]
`

/** The answer of `get_agent_requirements`: how to write a template, for a model. */
export const templateGuide = `# How to write an agent template

Put these files at the root of a git repository (or of a folder in the platform's template catalog):

- template.yaml  required; describes the template, below.
- CLAUDE.md      the instructions of the agent; every runtime reads it.
- .mcp.json.template  optional; MCP servers of the agent. \${VAR} and \${VAR:-default} are filled from its credentials.
- .env.example   optional; each variable in it counts as a required credential.
- All other files are copied into the agent's workspace, /home/developer.

template.yaml:

${templateExample
  .split('\n')
  .map((line) => (line === '' ? '' : `    ${line}`))
  .join('\n')}
Only name, display_name and description are required. Unknown keys have no effect: create_agent lists each one in
template_warnings, and each schedule that it could not create in schedule_errors.

Create an agent from it with create_agent and template "github:<org>/<repo>" or "github:<org>/<repo>@<branch>".
Never put secrets into the repository. Use inject_credentials to give them to the agent once it exists.
`
