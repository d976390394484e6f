import type { AgentDetails } from '@roost/contracts/agents/agent'
import { Link } from '@tanstack/react-router'
import { FileSearch } from 'lucide-react'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { useStoredState } from '../../../ui/use-stored-state.ts'
import { AgentStopped } from '../../agents/agent-stopped.tsx'
import { type Place, paramOf } from '../../workspace/paths.ts'
import { TreePane } from '../../workspace/tree-pane.tsx'
import { useFileActions } from '../../workspace/use-file-actions.ts'
import { FilePreview } from './file-preview.tsx'

export type FilesPartProps = { agent: AgentDetails; place: Place; onGo: (place: Place) => void }

/** The workspace as a tree, with a preview of the chosen file below it. Files are changed in the tab of the agent. */
export function FilesPart({ agent, place, onGo }: FilesPartProps) {
  const { name } = agent
  const [hidden, setHidden] = useStoredState('files-hidden', false)
  const actions = useFileActions(name)
  if (agent.status !== 'running') return <AgentStopped agent={agent} purpose="view its files" />
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <TreePane
        name={name}
        place={place}
        hidden={hidden}
        onHiddenChange={setHidden}
        removed={actions.removed}
        onGo={onGo}
        onRefresh={actions.refresh}
        onDrop={null}
        className="flex h-2/5 min-h-32 shrink-0 border-b"
      />
      {place.kind === 'file' ? (
        <FilePreview
          key={place.path}
          agentName={name}
          path={place.path}
          isDownloading={actions.isDownloading}
          onDownload={() => actions.download(place)}
        />
      ) : (
        <div className="grid min-h-0 flex-1 place-items-center overflow-y-auto">
          <EmptyState
            icon={<FileSearch aria-hidden />}
            title="Choose a file to view it"
            action={
              <Link
                to="/agents/$name"
                params={{ name }}
                search={{ tab: 'files', path: paramOf(place) }}
                className="text-accent text-sm hover:underline"
              >
                Open the Files tab
              </Link>
            }
          />
        </div>
      )}
    </div>
  )
}
