import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Executions } from '../../runs/executions/index.ts'

/** Throws `turn_in_progress`. While the session is locked no other turn can start. */
export async function requireNoTurn(
  executions: Pick<Executions, 'inFlight'>,
  tx: Tx,
  sessionId: string,
): Promise<void> {
  const running = (await executions.inFlight(tx, [sessionId])).get(sessionId)
  if (running) throw new Fault('turn_in_progress', undefined, { execution_id: running })
}
