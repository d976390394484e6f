import type { RosterAgent } from '@roost/contracts/conversations/workspace'
import type { Conversation } from '@roost/contracts/conversations/workspace-conversations'
import { useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import {
  ArrowLeft,
  FileChartColumn,
  FolderOpen,
  Info,
  LayoutPanelTop,
  MoreHorizontal,
  Pencil,
  RotateCcw,
  Star,
  UsersRound,
} from 'lucide-react'
import { useState } from 'react'
import { PageHelp } from '../../shell/page-help.tsx'
import { IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Menu } from '../../ui/menu.tsx'
import { RenameDialog } from '../chat/rename-dialog.tsx'
import { CallButton } from '../voice/call-button.tsx'
import { conversationName } from './conversation-name.ts'
import { workspaceKeys } from './queries.ts'
import { useConversationActions } from './use-conversation-actions.ts'

const route = getRouteApi('/workspace/frame')

type ConversationHeaderProps = { agent: RosterAgent; conversation: Conversation }

/** The agent, the conversation and its actions. */
export function ConversationHeader({ agent, conversation }: ConversationHeaderProps) {
  const { rail } = route.useSearch()
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { star, reset, rename } = useConversationActions(agent.name)
  const [openDialog, setOpenDialog] = useState<'rename' | 'reset' | null>(null)
  const { id, starred, is_main } = conversation
  const showRail = (next: typeof rail) =>
    void navigate({
      to: '.',
      search: (now) => ({ ...now, rail: now.rail === next ? undefined : next }),
      replace: true,
      resetScroll: false,
    })
  return (
    <div className="flex h-11 shrink-0 items-center gap-1 border-b border-line px-3 md:pl-6">
      <Link
        to="/workspace"
        search={({ q }) => ({ q })}
        aria-label="Back to your agents"
        className="grid size-8 shrink-0 place-items-center rounded-md text-muted hover:bg-hover md:hidden"
      >
        <ArrowLeft aria-hidden className="size-4" />
      </Link>
      <h1 className="mr-1 min-w-0 flex-1 truncate font-medium text-sm">
        {agent.label ?? agent.name}
        <span className="text-muted"> · {conversationName(conversation)}</span>
      </h1>
      {agent.voice_available && conversation.archived_at === null && (
        <CallButton
          target={{ agentName: agent.name, sessionId: id, place: 'workspace' }}
          agentLabel={agent.label ?? agent.name}
          obstacle={null}
          onEnded={() =>
            void queries.invalidateQueries({ queryKey: workspaceKeys.conversations(agent.name) })
          }
        />
      )}
      <IconButton
        label={starred ? 'Remove star' : 'Add star'}
        icon={<Star aria-hidden className={cx(starred && 'fill-current')} />}
        aria-pressed={starred}
        onClick={() => star.mutate({ id, starred: !starred })}
      />
      <IconButton
        label="Canvases"
        icon={<LayoutPanelTop aria-hidden />}
        aria-pressed={rail === 'canvas'}
        onClick={() => showRail('canvas')}
      />
      <IconButton
        label="Reports"
        icon={<FileChartColumn aria-hidden />}
        aria-pressed={rail === 'reports'}
        onClick={() => showRail('reports')}
      />
      <IconButton
        label="Files"
        icon={<FolderOpen aria-hidden />}
        aria-pressed={rail === 'files'}
        onClick={() => showRail('files')}
      />
      <Menu
        trigger={<IconButton label="More actions" icon={<MoreHorizontal aria-hidden />} />}
        items={[
          !is_main && {
            label: 'Rename…',
            icon: <Pencil aria-hidden />,
            onSelect: () => setOpenDialog('rename'),
          },
          is_main && {
            label: 'Start over…',
            hint: 'Messages so far are archived',
            icon: <RotateCcw aria-hidden />,
            disabled: conversation.message_count === 0,
            onSelect: () => setOpenDialog('reset'),
          },
          agent.owned && {
            label: 'Users',
            hint: 'Users of this agent in the Workspace',
            icon: <UsersRound aria-hidden />,
            onSelect: () => showRail('people'),
          },
          { label: 'About this agent', icon: <Info aria-hidden />, onSelect: () => showRail('info') },
        ]}
      />
      <span className="md:hidden">
        <PageHelp guide="how-to/workspace" topic="Workspace" />
      </span>
      {openDialog === 'rename' && (
        <RenameDialog
          title={conversation.title ?? ''}
          onClose={() => setOpenDialog(null)}
          onRename={(title) => rename(id, title)}
        />
      )}
      <ConfirmDialog
        open={openDialog === 'reset'}
        onOpenChange={() => setOpenDialog(null)}
        tone="primary"
        title="Start Main over?"
        description="The agent starts without the previous messages. They stay readable in the archived conversations."
        action="Start over"
        pending={reset.isPending}
        onConfirm={() => reset.mutate(undefined, { onSettled: () => setOpenDialog(null) })}
      />
    </div>
  )
}
