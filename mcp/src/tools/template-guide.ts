/** What a model is told that is to write a template. The rules are those of the template reader. */
export const templateGuide = `# A repository that an agent can be made from

Put these files at the root of a git repository (or of a folder in the platform's template catalogue):

- template.yaml  required; describes the template, below.
- CLAUDE.md      the instructions of the agent; read by every runtime.
- .mcp.json.template  optional; MCP servers of the agent. \${VAR} and \${VAR:-default} are filled from its credentials.
- anything else is copied into the agent's workspace, /home/developer.

template.yaml:

    name: report-writer            # lowercase, digits, "-" and "_"
    display_name: Report writer
    description: Writes the weekly report from the numbers in data/.
    version: "1.0"
    type: business-assistant
    runtime:
      type: claude-code            # claude-code, gemini-cli or codex
      model: sonnet                # optional
    resources:
      cpu: "2"                     # 1, 2, 4, 8, 16
      memory: 4g                   # 1g to 32g
    credentials:                   # names only, never values
      env:
        - name: CRM_TOKEN
          description: Read access to the CRM
          required: true
    schedules:                     # at most 20
      - name: Monday report
        cron: "0 9 * * MON"        # five fields
        timezone: Europe/Berlin
        message: Write this week's report.

Create an agent from it with create_agent and template "github:<org>/<repo>" or "github:<org>/<repo>@<branch>".
Never put secrets into the repository: inject_credentials gives them to the agent once it exists.
`
