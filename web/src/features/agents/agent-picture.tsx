import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { AgentAvatar } from '../../ui/avatar.tsx'
import { useNear } from '../../ui/use-near.ts'
import { avatarQuery } from './queries.ts'

/** The agent's picture, fetched when it comes near the screen; initials until then or without one. */
export function AgentPicture({ name, size = 'md' }: { name: string; size?: 'md' | 'lg' }) {
  const { ref, isNear } = useNear<HTMLSpanElement>(false)
  const { data: picture } = useQuery({ ...avatarQuery(useApi(), name), enabled: isNear })
  return (
    <span ref={ref} className="inline-grid shrink-0">
      <AgentAvatar name={name} src={picture ?? null} size={size} />
    </span>
  )
}
