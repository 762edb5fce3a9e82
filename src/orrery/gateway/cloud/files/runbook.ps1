# Starts the gateway's machine after the cloud has shut it down. Running twice does no harm.
#
# PowerShell 7.2, in the grammar of 5.1. The webhook's body is a hint: anyone who has the address can write it,
# and it may arrive as text that has lost its quotes. Which machine is started stands here.
# It decides nothing that tests/gateway/cloud/cases.toml does not hold; restart.py does the same in Python.
param([object] $WebhookData)

$ErrorActionPreference = 'Stop'
$Machine = '@VM_RESOURCE_ID@'
$ClientId = '@CLIENT_ID@'
$ApiVersion = 'api-version=2024-07-01'
$Seconds = 15
$Polls = 16
$Time = '^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])(:[0-5]\d){2}Z$'
$Refused = 'The cloud refused: the identity of the runbook, or its role on the machine, is missing. ' +
    'Create them anew: type `orrery gateway cloud apply`.'
$Gone = 'The machine was not found: it was moved, renamed or deleted. ' +
    'Correct its id in the settings, then type `orrery gateway cloud apply`.'

$Alert = "$WebhookData"
if ($WebhookData.RequestBody) { $Alert = "$($WebhookData.RequestBody)" }
$Alert = $Alert -replace '\\', ''

function Test-Field([string] $Name, [string] $Value) {
    $Alert -match ('(?<![a-z])' + $Name + '["''\s]*[:=]["''\s]*' + $Value + '(["''\s,;}]|$)')
}

function Invoke-Cloud([string] $Method, [string] $Rest) {
    try { $reply = Invoke-AzRestMethod -Method $Method -Path ($Machine + $Rest) } catch { Write-Warning "$_" }
    if ($reply.StatusCode -eq 401 -or $reply.StatusCode -eq 403) { throw $Refused }
    if ($reply.StatusCode -eq 404) { throw $Gone }
    $reply
}

$IsReadable = (Test-Field 'status' '\w+') -and (Test-Field 'resourceId' '/\S+')
$IsOurs = Test-Field 'resourceId' ([regex]::Escape($Machine))
$IsUnavailable = (Test-Field '(category|eventSource)' 'ResourceHealth') -and
    (Test-Field 'currentHealthStatus' 'Unavailable')
$IsDeallocated = (Test-Field '(category|eventSource)' 'Administrative') -and
    (Test-Field 'operationName' '[\w./]+/deallocate/action') -and (Test-Field 'status' 'Succeeded')
$idle = ''
if (Test-Field 'schemaId' 'orrery-test') { $idle = 'this is a test' }
elseif ($IsReadable -and -not $IsOurs) { $idle = 'the alert names another machine' }
elseif ($IsReadable -and -not (Test-Field 'status' 'Activated')) { $idle = 'the alert is not activated' }
elseif ($IsReadable -and -not ($IsUnavailable -or $IsDeallocated)) { $idle = 'the alert reports no shutdown' }

try { Connect-AzAccount -Identity -AccountId $ClientId | Out-Null } catch { throw $Refused }
$power = 'unknown'
$started = $false
$remark = ''
for ($poll = 0; $poll -le $Polls; $poll++) {
    if ($poll -gt 0) { Start-Sleep -Seconds $Seconds }
    $seen = Invoke-Cloud 'GET' ('?$expand=instanceView&' + $ApiVersion)
    $status = [int] $seen.StatusCode
    if ($status -ne 200) { continue }
    $power = 'unknown'
    if ($seen.Content -match '"PowerState/(\w+)"') { $power = $Matches[1] }
    if ($idle) { return "Nothing to do: $idle. The machine is $power." }
    if ($power -eq 'running' -and $started) { return "The machine was started, and is running.$remark" }
    if ($power -eq 'running') { return "The machine is already running: nothing to do.$remark" }
    # ConvertFrom-Json would make a local date of the tag's time.
    if ($seen.Content -match '"orrery-paused-until"\s*:\s*"([^"]+)"') {
        $until = $Matches[1]
        $now = (Get-Date).ToUniversalTime().ToString('yyyyMMddHHmmss')
        if ($until -notmatch $Time) { $remark = ' The tag orrery-paused-until holds no time: it pauses nothing.' }
        elseif ([long] ($until -replace '\D', '') -gt [long] $now) {
            return "The restart is paused until ${until}: the machine stays $power."
        }
    }
    if ($power -match '^(starting|stopping|deallocating)$') { continue }
    $answer = Invoke-Cloud 'POST' ('/start?' + $ApiVersion)
    $status = [int] $answer.StatusCode
    if ($status -eq 200 -or $status -eq 202) { $started = $true }
}
throw "The machine was not seen running within 4 min: it is $power (last HTTP status: $status). " +
    "Look at its activity log, then type ``orrery gateway start``.$remark"
