import type { PlatformAlert } from '@roost/contracts/operations/operator-queue'

export function subscriptionAlert(
  agent: { id: string; name: string },
  moved: { from: string; to: string; provider: string },
): PlatformAlert {
  return {
    agentId: agent.id,
    kind: 'subscription_switched',
    title: `${agent.name} moved from subscription ${moved.from} to ${moved.to}`,
    question: `The provider (${moved.provider}) limits or refuses "${moved.from}". The agent asks with "${moved.to}" and goes back when that has passed; assign another subscription to keep it there.`,
    priority: 'medium',
    context: moved,
  }
}
