@echo off
rem Takes away what register.cmd wrote. The answers that a person gave stay.
setlocal
set "CLASSES=HKCU\Software\Classes"
reg delete "%CLASSES%\RosettaReview.Batch" /f >nul 2>nul
reg delete "%CLASSES%\.rosetta-batch" /f >nul 2>nul
echo Done. You can delete this folder now. Your answers are still on this computer.
pause
exit /b 0
