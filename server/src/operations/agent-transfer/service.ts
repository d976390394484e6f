import { createExport, type ExportDeps } from './export.ts'
import { createImport, type ImportDeps } from './import.ts'

export type AgentTransferDeps = ExportDeps & ImportDeps

export type AgentTransfer = {
  open: ReturnType<typeof createExport>
  import: ReturnType<typeof createImport>
}

export function createAgentTransfer(deps: AgentTransferDeps): AgentTransfer {
  return { open: createExport(deps), import: createImport(deps) }
}
