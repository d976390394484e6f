/** Where the scheduler asks the platform. Without the schemas: its process is small, and knows only these of the contract. */
export const executeTaskAt = { method: 'POST', path: '/api/internal/execute-task' } as const
export const executeTasksAt = { method: 'POST', path: '/api/internal/execute-tasks' } as const
export const scheduleChangesAt = { method: 'GET', path: '/api/internal/schedules/changes' } as const
export const validateExecutionAt = { method: 'POST', path: '/api/internal/validate-execution' } as const

/** Missed times that are made up for, at most. */
export const mostMisfires = 12
